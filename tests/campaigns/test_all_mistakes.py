"""All mistakes of a form are told at once, each at its field, with what to do; choices and dates in the past, too."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.bench import tools
from apps.campaigns import errors, forms, queries, services
from apps.campaigns.models import Campaign
from apps.core.messages import render
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, address, browser, form

WRONG = {
    "repetitions": "99999",
    "param_window": "64KiB..banana",
    "param_streams": "0..5000",
    "param_duration": "-3 s",
    "max_attempts": "few",
    "order": "sideways",
}


def experiment_form(cast: SimpleNamespace, sent: dict[str, Any]) -> forms.ExperimentForm:
    return forms.ExperimentForm(sent, tool=tools.get("iperf3-tcp"), campaign=make.campaign(cast))


def test_an_experiment_tells_all_mistakes_at_once(cast: SimpleNamespace, pair: list[Node]) -> None:
    sent = form(pair, **WRONG)
    sent["role_server"] = sent["role_client"]
    wrong = experiment_form(cast, sent).errors
    assert {*WRONG, "role_server"} <= {*wrong, "role_server"}
    assert wrong["repetitions"] == ["Too large: the maximum is 1000."]
    assert "banana" in wrong["param_window"][0]
    assert "too small: the minimum is 1" in wrong["param_streams"][0]
    assert "less than zero" in wrong["param_duration"][0]
    assert wrong["max_attempts"] == ["This is no whole number: enter one such as 3."]
    assert wrong["order"] == ["This is not offered here: choose again from the list."]
    # What says that one node plays two roles comes whatever else is wrong, too.
    assert any("two roles" in text or "same node" in text for texts in wrong.values() for text in texts), wrong


@pytest.mark.parametrize("name", sorted(WRONG))
def test_no_mistake_hides_another(cast: SimpleNamespace, pair: list[Node], name: str) -> None:
    others = {key: value for key, value in WRONG.items() if key != name}
    alone = experiment_form(cast, form(pair, **others)).errors
    assert set(alone) == set(others)
    together = experiment_form(cast, form(pair, **WRONG)).errors
    assert {key: together[key] for key in others} == {key: alone[key] for key in others}


def test_what_was_not_chosen_is_said_once(cast: SimpleNamespace, pair: list[Node]) -> None:
    sent = form(pair, param_duration="-3 s")
    del sent["role_client"], sent["name"]
    wrong = experiment_form(cast, sent).errors
    assert set(wrong) == {"role_client", "name", "param_duration"}
    assert all(len(texts) == 1 for texts in wrong.values())


def test_a_campaign_tells_a_wrong_zone_and_a_wrong_schedule_at_once(cast: SimpleNamespace) -> None:
    sent = {"name": "x", "cron": "every day", "cron_timezone": "Mars", "start_at": "2020-01-01T00:00"}
    page = browser(cast.oscar).post(address("campaign_create"), sent).content.decode()
    for text in ("“Mars” is no time zone", "“every day” is no cron expression", "This date has passed"):
        assert text in page
    assert not Campaign.objects.exists()
    for zone in ("Mars", " "):
        page = browser(cast.oscar).post(address("campaign_create"), {"name": "x", "cron_timezone": zone})
        assert page.status_code in (200, 422)
        assert not Campaign.objects.exists()


def test_a_start_in_the_past_is_refused_everywhere(cast: SimpleNamespace) -> None:
    now = timezone.now()
    with pytest.raises(errors.Refused) as refused:
        make.campaign(cast, now=now, start_at=now - timedelta(hours=1))
    assert "start_at" in refused.value.error_dict
    body = {"team": cast.team.slug, "name": "x", "start_at": (now - timedelta(hours=1)).isoformat()}
    answer = Api(cast.oscar)("post", "/campaigns/", body)
    assert (answer.status_code, "start_at" in answer.json()["fields"]) == (400, True), answer.json()
    # Dates are chosen to the minute: the present one has not passed.
    draft = make.campaign(cast, now=now, start_at=now - timedelta(seconds=30))
    # Nor does a date that has passed since keep anybody from changing the rest.
    later = now + timedelta(days=1)
    services.update_campaign(campaign=draft, user=cast.oscar, now=later, name="another", start_at=draft.start_at)
    with pytest.raises(errors.Refused):
        services.update_campaign(campaign=draft, user=cast.oscar, now=later, start_at=now)


def test_a_launch_says_that_the_start_has_passed(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast, start_at=make.NOW + timedelta(hours=1))
    make.experiment(draft, *pair)
    expansions = [expansion for _experiment, expansion in services.expand_campaign(draft)]
    before = queries.preview_campaign(draft, expansions, now=make.NOW)
    after = queries.preview_campaign(draft, expansions, now=make.NOW + timedelta(hours=2))
    assert not any("has passed" in render(text) for text in before.warnings)
    assert any("a launch starts it at once" in render(text) for text in after.warnings)
