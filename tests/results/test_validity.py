"""A trial that a person marks invalid: shown, counted nowhere, and counted again when that is undone."""

from types import SimpleNamespace

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from apps.campaigns.models import Campaign, Trial
from apps.results import queries, validity
from apps.toolbox import queries as toolbox
from tests import factories as people
from tests import rewriting


def table(campaign: Campaign) -> queries.FactorTable:
    experiment = campaign.experiments.get()
    return queries.table_of(experiment, metric=queries.metrics_of(toolbox.get_tool(experiment.tool))[0])


def counted(campaign: Campaign) -> set[int]:
    return {figure.trial for group in table(campaign).groups for figure in group.figures}


def test_a_marked_trial_is_shown_with_the_reason_and_counted_nowhere(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    before = {sample.pk: sample.value for trial in measured.trials.all() for sample in trial.samples.all()}
    trial = measured.trials.order_by("pk").first()
    assert trial is not None
    Campaign.objects.update(analysed_at=timezone.now())
    client.force_login(cast.oscar)
    assert "Mark as invalid" in client.get(f"/results/trials/{trial.pk}/").content.decode()
    answer = client.post(
        f"/results/trials/{trial.pk}/validity/", {"reason": "The <b>cable</b> was loose"}, follow=True
    )
    page = answer.content.decode()
    assert "The &lt;b&gt;cable&lt;/b&gt; was loose" in page
    assert trial.pk not in counted(measured)
    assert table(measured).reasons == ((validity.MARK, 1),)
    assert "invalid" in client.get(f"/results/campaigns/{measured.pk}/trials/").content.decode()
    measured.refresh_from_db()
    assert measured.analysed_at is None
    assert {s.pk: s.value for t in measured.trials.all() for s in t.samples.all()} == before
    client.post(f"/results/trials/{trial.pk}/validity/", {"undo": "yes"})
    assert trial.pk in counted(measured)
    trial.refresh_from_db()
    assert (trial.invalid_at, trial.invalid_by, trial.invalid_reason) == (None, None, "")
    told = [event.message["msgid"] for event in measured.events.filter(trial=trial)][:2]
    assert told == ["%(user)s counts trial %(trial)s again.", "%(user)s marked trial %(trial)s invalid: %(reason)s"]


def test_a_second_mark_takes_the_place_of_the_first(measured: Campaign, cast: SimpleNamespace) -> None:
    trial = measured.trials.order_by("pk").first()
    for reason in ("One", "Two"):
        validity.mark_invalid(trial=trial, user=cast.oscar, reason=reason, now=timezone.now())
    [flags] = [result.flags for result in trial.results.all()]
    assert [flag["message"]["params"]["reason"] for flag in flags if flag["name"] == validity.MARK] == ["Two"]


def test_a_mark_needs_a_reason_figures_and_a_role(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    trial = measured.trials.order_by("pk").first()
    for reason in ("  ", "x" * 501):
        with pytest.raises(ValidationError):
            validity.mark_invalid(trial=trial, user=cast.oscar, reason=reason, now=timezone.now())
    with pytest.raises(ValidationError, match="not marked"):
        validity.unmark_invalid(trial=trial, user=cast.oscar)
    address, wish = f"/api/v1/trials/{trial.pk}/validity/", {"reason": "Loose cable"}
    for user, status in ((cast.charlie, 404), (cast.bob, 403)):
        client.force_login(user)
        assert client.post(f"/results/trials/{trial.pk}/validity/", wish).status_code == status
        assert client.put(address, wish, content_type="application/json", **people.bearer(user)).status_code == status
    rewriting.delete(trial.results.all())
    with pytest.raises(ValidationError, match="no figures"):
        validity.mark_invalid(trial=trial, user=cast.oscar, reason="Empty", now=timezone.now())
    assert not Trial.objects.filter(invalid_at__isnull=False).exists()


def test_rest_marks_and_unmarks(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    trial, headers = measured.trials.order_by("pk").first(), people.bearer(cast.oscar)
    address = f"/api/v1/trials/{trial.pk}/validity/"
    told = client.put(address, {"reason": "Loose"}, content_type="application/json", **headers).json()
    assert (told["invalid"], told["invalid_by"], told["invalid_reason"]) == (True, "oscar", "Loose")
    assert client.get(address, **headers).json() == told
    assert client.delete(address, **headers).json()["invalid"] is False
    wrong = client.put(address, {}, content_type="application/json", **headers)
    assert (wrong.status_code, list(wrong.json()["fields"])) == (400, ["reason"])
