"""Large campaigns are deleted piece by piece, out of sight, by a worker."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.campaigns import queries, services
from apps.campaigns.models import Campaign, Tombstone, Trial
from apps.campaigns.services import deletion
from apps.core import queue
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, address, browser
from tests.campaigns.factories import NOW


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the tasks that were asked for."""
    tasks: list[str] = []
    monkeypatch.setattr(queue, "send", lambda task, *_args: tasks.append(task))
    return tasks


@pytest.fixture
def large(cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """Return a cancelled campaign that is too large to be deleted at once."""
    monkeypatch.setattr(deletion, "AT_ONCE", 4)
    monkeypatch.setattr(deletion, "BATCH", 3)
    campaign = make.launched(cast, *pair, repetitions=4)
    return services.cancel_campaign(campaign=campaign, user=cast.oscar, now=NOW)


@pytest.fixture
def oscar(cast: SimpleNamespace) -> Client:
    """Return the operator's browser."""
    return browser(cast.oscar)


def test_a_small_one_is_gone_at_once(cast: SimpleNamespace, pair: list[Node], sent: list[str]) -> None:
    campaign = services.cancel_campaign(campaign=make.launched(cast, *pair), user=cast.oscar, now=NOW)
    sent.clear()
    assert services.delete_campaign(campaign=campaign, user=cast.oscar, now=NOW)
    assert not Campaign.objects.exists()
    assert not sent


def test_a_large_one_is_left_to_a_worker(large: Campaign, cast: SimpleNamespace, sent: list[str]) -> None:
    assert not services.delete_campaign(campaign=large, user=cast.oscar, now=NOW)
    assert Trial.objects.count() == 8
    assert sent == [queue.BULKY]
    assert services.continue_deletions()
    assert not services.continue_deletions()
    assert not Campaign.objects.exists()
    assert not Trial.objects.exists()


def test_a_worker_lets_others_have_their_turn(
    large: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "TURN_S", 0.0)
    services.delete_campaign(campaign=large, user=cast.oscar, now=NOW)
    assert services.continue_deletions()
    assert Trial.objects.count() == 5
    assert queries.deletions_for(cast.oscar) == [(large, 37)]


@pytest.mark.parametrize(("most", "is_kept"), [(8, True), (7, False)])
def test_what_it_was_is_kept_by_the_worker_before_any_of_it_goes(
    large: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, most: int, is_kept: bool
) -> None:
    monkeypatch.setattr(deletion, "TURN_S", 0.0)
    monkeypatch.setattr(deletion, "MOST_DIGESTED", most)
    digests = deletion._digests_of(large)
    services.delete_campaign(campaign=large, user=cast.oscar, now=NOW)
    assert Tombstone.objects.get().digests == {}
    while services.continue_deletions():
        assert Tombstone.objects.get().digests == (digests if is_kept else {})
    assert not Campaign.objects.exists()
    assert Tombstone.objects.get().digests == (digests if is_kept else {})


def test_nobody_sees_it_but_how_far_it_is(large: Campaign, cast: SimpleNamespace, oscar: Client) -> None:
    oscar.post(address("campaign_delete", large.pk))
    for name in ("campaign_detail", "campaign_status", "campaign_update", "campaign_delete", "results:trial_list"):
        assert oscar.get(address(name, large.pk)).status_code == 404
    page = oscar.get(address("campaign_list")).content.decode()
    assert "is being deleted: 0 %" in page
    assert address("campaign_detail", large.pk) not in page
    assert "is being deleted" in oscar.get(address("deletions")).content.decode()
    assert "is being deleted" not in browser(cast.charlie).get(address("deletions")).content.decode()
    assert browser(None).get(address("deletions")).status_code == 302
    api = Api(cast.oscar)
    assert api("get", f"/campaigns/{large.pk}/").status_code == 404
    assert api("get", "/campaigns/").json()["count"] == 0
    services.continue_deletions()
    assert "hx-trigger" not in oscar.get(address("deletions")).content.decode()


def test_rest_deletes_it_likewise(large: Campaign, cast: SimpleNamespace) -> None:
    assert Api(cast.bob)("delete", f"/campaigns/{large.pk}/").status_code == 403
    assert Api(cast.oscar)("delete", f"/campaigns/{large.pk}/").status_code == 204
    large.refresh_from_db()
    assert large.deleting_at


def test_a_lost_message_is_made_good(large: Campaign, cast: SimpleNamespace, sent: list[str]) -> None:
    services.delete_campaign(campaign=large, user=cast.oscar, now=NOW)
    sent.clear()
    services.resume_deletions(now=timezone.now())
    assert sent == [queue.BULKY]
    while services.continue_deletions():
        pass
    sent.clear()
    services.resume_deletions(now=timezone.now())
    assert not sent


def test_asking_before_deleting_costs_no_look_at_every_trial(
    large: Campaign, oscar: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        assert "8 trials" in oscar.get(address("campaign_delete", large.pk)).content.decode()
