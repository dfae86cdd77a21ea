"""The WebSocket of a campaign's page ends with the right to see what it tells."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from apps.accounts.models import Membership, User
from apps.campaigns import consumers, live
from apps.campaigns.models import Campaign
from tests.campaigns.factories import share
from tests.campaigns.test_live import Commit, calm, campaign, commit, connected, in_this_thread, is_let_in

__all__ = ["calm", "campaign", "commit"]


# Each ends a viewer's right to see a campaign; beside it the code with which the socket is closed.
def _leaves(cast: SimpleNamespace, campaign: Campaign, browser: Client) -> None:
    Membership.objects.filter(user=cast.bob, team=cast.team).delete()


def _signs_out(cast: SimpleNamespace, campaign: Campaign, browser: Client) -> None:
    browser.post("/accounts/logout/")


def _is_deactivated(cast: SimpleNamespace, campaign: Campaign, browser: Client) -> None:
    User.objects.filter(pk=cast.bob.pk).update(is_active=False)


def _changes_the_password_elsewhere(cast: SimpleNamespace, campaign: Campaign, browser: Client) -> None:
    person = User.objects.get(pk=cast.bob.pk)
    person.set_password("another")
    person.save()


def _session_ends(cast: SimpleNamespace, campaign: Campaign, browser: Client) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


def _is_being_deleted(cast: SimpleNamespace, campaign: Campaign, browser: Client) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(deleting_at=timezone.now())


ENDS = {
    _leaves: 4403, _is_being_deleted: 4403, _signs_out: 4401, _is_deactivated: 4401,
    _changes_the_password_elsewhere: 4401, _session_ends: 4401,
}  # fmt: skip


@pytest.mark.parametrize("is_told", [True, False], ids=["at a message", "in silence"])
@pytest.mark.parametrize("ends", ENDS, ids=lambda ends: ends.__name__.strip("_"))
def test_a_socket_ends_with_the_right_to_see_what_it_tells(
    cast: SimpleNamespace,
    campaign: Campaign,
    commit: Commit,
    monkeypatch: pytest.MonkeyPatch,
    ends: Callable[..., None],
    is_told: bool,
) -> None:
    monkeypatch.setattr(consumers, "LOOK_S", 30.0 if is_told else 0.2)

    async def watch() -> None:
        browser = Client()
        socket = await connected(cast.bob, campaign.pk, browser)
        await commit(lambda: live.publish(campaign.pk, "event"))
        assert await socket.hear() == {"kinds": ["event"], "experiments": []}
        await sync_to_async(ends)(cast, campaign, browser)
        if is_told:
            await commit(lambda: live.publish(campaign.pk, "findings"))
        assert await socket.end() == ENDS[ends]

    async_to_sync(watch)()


@in_this_thread
async def test_a_socket_ends_when_its_campaign_is_no_longer_shared(
    cast: SimpleNamespace, campaign: Campaign, commit: Commit
) -> None:
    await sync_to_async(share)(campaign, cast.other_team)
    socket = await connected(cast.charlie, campaign.pk)
    await sync_to_async(campaign.shares.all().delete)()
    await commit(lambda: live.publish(campaign.pk, "event"))
    assert await socket.end() == 4403


@in_this_thread
async def test_a_socket_ends_while_the_database_is_away_and_may_be_opened_again(
    cast: SimpleNamespace, campaign: Campaign, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = await connected(cast.bob, campaign.pk)

    async def fail(consumer: object, within_s: float = 0.0) -> int:
        raise OperationalError

    with monkeypatch.context() as patched:
        patched.setattr(consumers.CampaignConsumer, "_viewer", fail)
        await commit(lambda: live.publish(campaign.pk, "event"))
        assert await socket.end() == 1013
    assert await is_let_in(cast.bob, campaign.pk)
