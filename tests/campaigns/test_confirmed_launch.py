"""A launch starts what somebody looked at and confirmed, and nothing that was changed since."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.campaigns import definitions
from apps.campaigns.models import Campaign
from apps.testbeds.models import Link, Node
from tests import factories
from tests.campaigns import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(cast: SimpleNamespace, pair: list[Node]) -> Campaign:
    found = make.campaign(cast)
    make.experiment(found, *pair, name="Windows")
    return found


@pytest.fixture
def oscar(cast: SimpleNamespace) -> Client:
    client = Client()
    client.force_login(cast.oscar)
    return client


def confirmation(client: Client, draft: Campaign) -> dict[str, str]:
    """Return what the form of the page that asks sends."""
    page = client.get(reverse("campaigns:confirm_launch", args=[draft.pk])).content.decode()
    return dict(re.findall(r'name="(digest|as_shown)" value="([^"]+)"', page))


def launch(client: Client, draft: Campaign, sent: dict[str, str]) -> Any:
    return client.post(reverse("campaigns:launch", args=[draft.pk]), sent)


def digest(draft: Campaign) -> str:
    campaign = Campaign.objects.get(pk=draft.pk)
    return definitions.digest_of(definitions.parts_of(campaign, make.services.expand_campaign(campaign)))


def test_what_was_shown_is_started(oscar: Client, draft: Campaign) -> None:
    sent = confirmation(oscar, draft)
    assert sent.keys() == {"digest", "as_shown"}
    assert launch(oscar, draft, sent).status_code == 302
    draft.refresh_from_db()
    assert draft.state == "running"


def test_what_was_changed_after_it_was_shown_is_not_started_but_shown(
    oscar: Client, draft: Campaign, cast: SimpleNamespace
) -> None:
    sent = confirmation(oscar, draft)
    make.services.update_experiment(experiment=draft.experiments.get(), user=cast.alice, repetitions=50)
    answer = launch(oscar, draft, sent)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Windows: repetitions, attempts and limits" in page
    assert "nothing was started" in page
    draft.refresh_from_db()
    assert draft.state == "draft" and not draft.trials.exists()
    # What is shown now can be launched.
    again = dict(re.findall(r'name="(digest|as_shown)" value="([^"]+)"', page))
    assert launch(oscar, draft, again).status_code == 302
    draft.refresh_from_db()
    assert draft.state == "running"


def test_a_campaign_that_can_no_longer_be_launched_says_why(oscar: Client, draft: Campaign) -> None:
    sent = confirmation(oscar, draft)
    draft.experiments.get().delete()
    answer = oscar.post(reverse("campaigns:launch", args=[draft.pk]), sent, follow=True)
    assert b"There is nothing to measure yet" in answer.content
    draft.refresh_from_db()
    assert draft.state == "draft"


def test_every_part_of_the_definition_changes_the_digest(
    draft: Campaign, cast: SimpleNamespace, pair: list[Node]
) -> None:
    experiment = draft.experiments.get()
    seen = {digest(draft)}

    def changed() -> str:
        found = digest(draft)
        assert found not in seen
        seen.add(found)
        return found

    other = next(name for name in type(experiment).Order.values if name != experiment.order)
    for name, value in {
        "repetitions": 7, "warmups": 2, "order": other, "seed": 99, "max_attempts": 9, "retry_wait_s": 9,
        "fixed": {"duration": "3 s"}, "factors": [{"name": "window", "expression": "96KiB"}], "name": "Others",
        "context": not experiment.context,
    }.items():  # fmt: skip
        assert getattr(experiment, name) != value
        make.services.update_experiment(experiment=experiment, user=cast.oscar, **{name: value})
        changed()
    roles = make.players(client=pair[1], server=pair[0])
    make.services.update_experiment(experiment=experiment, user=cast.oscar, roles=roles)
    changed()
    make.experiment(draft, *pair, name="One more")
    changed()
    Link.objects.update(streams_limit=77)
    changed()
    Campaign.objects.filter(pk=draft.pk).update(cron="0 2 * * 1")
    changed()
    # What it is called and why it is made starts nothing.
    Campaign.objects.filter(pk=draft.pk).update(name="New", goal="Other")
    assert digest(draft) in seen


def test_over_rest_a_launch_may_name_what_it_agrees_to(draft: Campaign, cast: SimpleNamespace) -> None:
    client, headers = Client(), factories.bearer(cast.oscar)
    place = f"/api/v1/campaigns/{draft.pk}/"

    def post(body: dict[str, str]) -> Any:
        return client.post(f"{place}launch/", body, content_type="application/json", **headers)

    shown = client.get(f"{place}preview/", **headers).json()["digest"]
    make.services.update_experiment(experiment=draft.experiments.get(), user=cast.alice, repetitions=50)
    refused = post({"digest": shown})
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("The campaign was changed after you looked at it")
    draft.refresh_from_db()
    assert draft.state == "draft"
    now = client.get(f"{place}preview/", **headers).json()["digest"]
    assert post({"digest": now}).json()["state"] == "running"


def test_over_rest_a_launch_that_names_nothing_starts_what_is_there(draft: Campaign, cast: SimpleNamespace) -> None:
    answer = Client().post(f"/api/v1/campaigns/{draft.pk}/launch/", **factories.bearer(cast.oscar))
    assert answer.status_code == 200 and answer.json()["state"] == "running"


def test_a_viewer_and_a_stranger_learn_nothing_of_what_changed(draft: Campaign, cast: SimpleNamespace) -> None:
    for person, status in ((cast.bob, 403), (cast.charlie, 404)):
        client = Client()
        client.force_login(person)
        assert launch(client, draft, {"digest": "0", "as_shown": ""}).status_code == status


def test_no_more_is_deleted_than_was_shown(oscar: Client, draft: Campaign, cast: SimpleNamespace) -> None:
    address = reverse("campaigns:campaign_delete", args=[draft.pk])

    def loss_in(page: str) -> dict[str, str]:
        return dict(re.findall(r'name="(loss)" value="([^"]*)"', page))

    sent = loss_in(oscar.get(address).content.decode())
    assert sent == {"loss": ""}
    # Somebody else launches it, and it is cancelled, with trials that were not there.
    make.services.launch_campaign(campaign=draft, user=cast.alice, now=make.NOW)
    make.services.cancel_campaign(campaign=Campaign.objects.get(pk=draft.pk), user=cast.alice, now=make.NOW)
    answer = oscar.post(address, sent)
    page = answer.content.decode()
    assert answer.status_code == 409 and "What would go with it has changed" in page
    assert Campaign.objects.filter(pk=draft.pk, deleting_at=None).exists()
    assert oscar.post(address, loss_in(page)).status_code == 302
    assert not Campaign.objects.filter(pk=draft.pk, deleting_at=None).exists()
