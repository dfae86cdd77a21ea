"""The WebSocket of a campaign's page."""

import asyncio
import functools
import json
import logging
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.db import transaction
from django.test import Client

from apps.accounts.models import Membership, User
from apps.campaigns import consumers, live, services
from apps.campaigns.models import Campaign
from apps.config.asgi import application
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW, take

Commit = Callable[[Callable[[], Any]], Awaitable[Any]]


def in_this_thread(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an async test so that its database calls see the test's transaction."""

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        async_to_sync(test)(**fixtures)

    return run


@pytest.fixture
def campaign(cast: SimpleNamespace) -> Campaign:
    """Return a running campaign."""
    return make.launched(cast, *make.nodes(cast.team, "a", "b"))


@pytest.fixture
def commit(django_capture_on_commit_callbacks: Any) -> Commit:
    """Return what does some work and then all that waits for its commit."""

    def do(work: Callable[[], Any]) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return work()

    return sync_to_async(do)


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gather changes for a moment only, and look in the test's own transaction."""
    monkeypatch.setattr(consumers, "GATHER_S", 0.05)
    monkeypatch.setattr("channels.db.close_old_connections", lambda: None)
    monkeypatch.setattr(consumers.looks, "run", lambda work: sync_to_async(work)())


class Socket(ApplicationCommunicator):
    """A viewer's end of a WebSocket."""

    async def connect(self) -> bool:
        """Return whether the server accepts the connection."""
        await self.send_input({"type": "websocket.connect"})
        return (await self.receive_output())["type"] == "websocket.accept"

    async def hear(self) -> dict[str, object]:
        """Return the next message."""
        return json.loads((await self.receive_output())["text"])

    async def end(self) -> int:
        """Return the code with which the server closes the connection."""
        told = await self.receive_output(timeout=10)
        assert told["type"] == "websocket.close", told
        await self.leave()
        return int(told["code"])

    async def say(self, **content: object) -> None:
        """Send a message, of `text` or `bytes`."""
        await self.send_input({"type": "websocket.receive", **content})

    async def leave(self) -> None:
        """Close the connection."""
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait()


async def open_socket(
    user: User | None, pk: int, origin: str = "http://testserver", browser: Client | None = None
) -> Socket:
    """Return a socket as a browser of this person opens it."""
    headers = [(b"origin", origin.encode()), (b"host", b"testserver")]
    if user:
        browser = browser or Client()
        await sync_to_async(browser.force_login)(user)
        headers.append((b"cookie", f"sessionid={browser.cookies['sessionid'].value}".encode()))
    path = f"/ws/campaigns/{pk}/"
    scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "subprotocols": []}
    return Socket(application, scope)


async def connected(user: User, pk: int, browser: Client | None = None) -> Socket:
    """Return a socket that the server has accepted."""
    socket = await open_socket(user, pk, browser=browser)
    assert await socket.connect()
    return socket


async def is_let_in(user: User | None, pk: int, origin: str = "http://testserver") -> bool:
    socket = await open_socket(user, pk, origin)
    accepted = await socket.connect()
    await socket.leave()
    return accepted


@in_this_thread
async def test_members_are_let_in_and_others_are_not(cast: SimpleNamespace, campaign: Campaign) -> None:
    assert await is_let_in(cast.oscar, campaign.pk)
    assert await is_let_in(cast.bob, campaign.pk)
    assert not await is_let_in(cast.charlie, campaign.pk)
    assert not await is_let_in(None, campaign.pk)
    assert not await is_let_in(cast.oscar, campaign.pk + 1)


@in_this_thread
async def test_a_member_who_left_the_team_is_not_let_in_again(cast: SimpleNamespace, campaign: Campaign) -> None:
    await sync_to_async(Membership.objects.filter(user=cast.bob).delete)()
    assert not await is_let_in(cast.bob, campaign.pk)


@in_this_thread
async def test_another_sites_page_is_not_let_in(cast: SimpleNamespace, campaign: Campaign) -> None:
    assert await is_let_in(cast.oscar, campaign.pk)
    assert not await is_let_in(cast.oscar, campaign.pk, origin="http://elsewhere.example")


@in_this_thread
async def test_every_viewer_hears_what_changed(cast: SimpleNamespace, campaign: Campaign, commit: Commit) -> None:
    viewers = [await connected(cast.oscar, campaign.pk), await connected(cast.bob, campaign.pk)]
    (run,) = await commit(take)
    experiment = run.trial.experiment_id
    for viewer in viewers:
        assert await viewer.hear() == {"kinds": ["trial"], "experiments": [experiment]}

    def go_on() -> None:
        services.succeed_run(run=run, now=NOW)
        services.pause_campaign(campaign=campaign, user=cast.oscar)

    await commit(go_on)
    for viewer in viewers:
        heard: set[str] = set()
        # One message as a rule; on a busy machine the first may leave before the last is told.
        while heard < {"campaign", "event", "trial"}:
            told = await viewer.hear()
            heard |= set(told["kinds"])
            assert told["experiments"] in ([experiment], [])
        assert heard == {"campaign", "event", "trial"}
        await viewer.leave()


@in_this_thread
async def test_one_change_after_the_other_is_told(cast: SimpleNamespace, campaign: Campaign, commit: Commit) -> None:
    socket = await connected(cast.oscar, campaign.pk)
    for kind in ("event", "findings"):
        await commit(lambda kind=kind: live.publish(campaign.pk, kind))
        assert await socket.hear() == {"kinds": [kind], "experiments": []}
    await socket.leave()


@in_this_thread
async def test_a_change_of_another_campaign_is_not_heard(
    cast: SimpleNamespace, campaign: Campaign, commit: Commit
) -> None:
    socket = await connected(cast.oscar, campaign.pk)
    await commit(lambda: live.publish(campaign.pk + 1, "event"))
    assert await socket.receive_nothing(timeout=0.3)
    await socket.leave()


@in_this_thread
async def test_what_a_viewer_sends_is_ignored(cast: SimpleNamespace, campaign: Campaign, commit: Commit) -> None:
    socket = await connected(cast.bob, campaign.pk)
    await socket.say(text='{"type": "campaign.changed"')
    await socket.say(bytes=b"\x00\xff")
    await commit(lambda: live.publish(campaign.pk, "event"))
    assert await socket.hear() == {"kinds": ["event"], "experiments": []}
    await socket.leave()


@in_this_thread
async def test_a_viewer_may_leave_while_something_is_being_gathered(
    cast: SimpleNamespace, campaign: Campaign, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "GATHER_S", 30)
    socket = await connected(cast.oscar, campaign.pk)
    await commit(lambda: live.publish(campaign.pk, "event"))
    await asyncio.sleep(0.1)
    await socket.leave()


def test_nothing_is_told_of_what_was_rolled_back(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    told = []
    monkeypatch.setattr(live, "_send", lambda *message: told.append(message))
    with django_capture_on_commit_callbacks(execute=True):
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            live.publish(campaign.pk, "event")
            raise ZeroDivisionError
        live.publish(campaign.pk, "event")
    assert len(told) == 1


def test_a_broker_that_is_away_does_no_harm(
    cast: SimpleNamespace,
    campaign: Campaign,
    settings: Any,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.REDIS_URL = "unix:///nowhere.sock"
    live._client.cache_clear()
    with caplog.at_level(logging.WARNING), django_capture_on_commit_callbacks(execute=True):
        services.pause_campaign(campaign=campaign, user=cast.oscar)
    campaign.refresh_from_db()
    live._client.cache_clear()
    assert campaign.state == "paused"
    assert "were not told" in caplog.text
