"""WebSockets are bounded: of one person, from one address, in all; of nobody none is looked up."""

import http.client
import socket as sockets
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from types import SimpleNamespace

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.test import Client

from apps.accounts.models import User
from apps.campaigns.models import Campaign
from apps.core.limits import open_sockets
from apps.core.limits.crowds import MOST, PAGES, Crowds
from apps.core.limits.fair_places import Owners
from apps.core.limits.open_sockets import Sockets
from tests import factories
from tests.agents.live import LiveServer
from tests.campaigns import factories as make
from tests.campaigns.test_live import calm, campaign, connected, in_this_thread, is_let_in, open_socket

__all__ = ["calm", "campaign"]
# The code as a closing frame has it.
CODE = (4429).to_bytes(2, "big")
# A page is live so soon (s), on a machine that others use, too.
SOON_S = 6.0


def bounded(monkeypatch: pytest.MonkeyPatch, most: int = 9, of_person: int = 9) -> Sockets:
    one = Sockets(most, of_address=9, of_person=of_person)
    monkeypatch.setattr(open_sockets, "of_process", one)
    return one


@in_this_thread
async def test_one_too_many_of_a_person_is_closed_with_a_code(
    cast: SimpleNamespace, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = bounded(monkeypatch, of_person=2)
    held = [await connected(cast.bob, campaign.pk) for _time in range(2)]
    third = await connected(cast.bob, campaign.pk)
    assert await third.end() == 4429
    other = await connected(cast.oscar, campaign.pk)
    await held.pop().leave()
    again = await connected(cast.bob, campaign.pk)
    assert await again.receive_nothing(timeout=0.2)
    for one in (*held, other, again):
        await one.leave()
    assert bounds.size == 0


@in_this_thread
async def test_one_too_many_in_all_is_closed_with_a_code_and_those_who_are_refused_hold_nothing(
    cast: SimpleNamespace, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = bounded(monkeypatch, most=1)
    for _time in range(3):
        assert not await is_let_in(cast.charlie, campaign.pk)
    held = await connected(cast.bob, campaign.pk)
    assert await (await connected(cast.oscar, campaign.pk)).end() == 4429
    await held.leave()
    assert bounds.size == 0


def test_an_address_has_a_share_and_none_of_others() -> None:
    bounds = Sockets(10, of_address=2, of_person=9)
    held = [bounds.greet("192.0.2.1"), bounds.greet("192.0.2.1")]
    assert all(held)
    assert bounds.greet("192.0.2.1") is None
    assert bounds.greet("192.0.2.2")
    assert held[0]
    held[0].give_back()
    assert bounds.greet("192.0.2.1")
    assert bounds.size == 3


def test_invented_sessions_take_no_place_of_known_ones() -> None:
    """Only the database can tell them, and it takes a while for many."""
    bounds, one = Sockets(2, of_address=9, of_person=9), Owners("person 1")
    strangers = [bounds.greet(f"192.0.2.{number}") for number in range(2)]
    assert all(strangers)
    assert bounds.greet("192.0.2.3") is None
    member = bounds.greet("192.0.2.1", is_known=True)
    assert member and member.belong_to(one)
    assert strangers[0] and strangers[0].belong_to(one)
    assert bounds.greet("192.0.2.3"), "one of them is known by now"
    assert strangers[1] and not strangers[1].belong_to(one), "of known ones there are as many as may be"
    strangers[1].give_back()
    assert bounds.size == 3


@in_this_thread
async def test_a_stranger_waits_for_its_turn_and_one_whose_page_was_read_does_not(
    cast: SimpleNamespace, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = bounded(monkeypatch)
    process = Crowds()
    monkeypatch.setattr("apps.core.limits.crowds.of_process", process)
    monkeypatch.setattr("apps.core.limits.crowds.WAIT_S", 0.1)
    monkeypatch.setattr("apps.core.limits.open_sockets.address_in", lambda _text: "192.0.2.1")
    stranger = await connected(cast.bob, campaign.pk)
    assert not process._turns[PAGES]._taken, "its page is live for long"
    # Others of its address are being opened.
    turns = [process.turn_of("192.0.2.1", "/ws/", b"", b"") for _number in range(MOST[PAGES] - 1)]
    for turn in turns:
        await turn.take()
    assert await (await connected(cast.bob, campaign.pk)).end() == 4429
    monkeypatch.setattr(Crowds, "knows", lambda *_arguments: True)
    mine = await connected(cast.bob, campaign.pk)
    assert await mine.receive_nothing(timeout=0.2)
    for one in (stranger, mine):
        await one.leave()
    assert bounds.size == 0


@pytest.mark.parametrize("cookie", [None, b"x=y", b"sessionid=", b"sessionid=short", b"sessionid=" + b"-" * 32])
@pytest.mark.django_db
def test_of_nobody_nothing_is_looked_up(cookie: bytes | None, django_assert_num_queries: object) -> None:
    async def refused() -> None:
        one = await open_socket(None, 1)
        if cookie is not None:
            one.scope["headers"].append((b"cookie", cookie))
        assert not await one.connect()

    with django_assert_num_queries(0):  # type: ignore[operator]
        async_to_sync(refused)()


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    one = LiveServer(
        tmp_path_factory.mktemp("sockets") / "log",
        SECRET_KEY=settings.SECRET_KEY,
        WEB_SOCKETS_PER_PERSON="20",
        WEB_SOCKETS_PER_ADDRESS="400",
    )
    one.start()
    yield one
    one.stop()


def key_of(user: User) -> str:
    browser = Client()
    browser.force_login(user)
    return browser.cookies["sessionid"].value


def greeted(server: LiveServer, pk: int, key: str) -> sockets.socket:
    """Return a connection on which the opening of a WebSocket was asked for."""
    lines = [
        f"GET /ws/campaigns/{pk}/ HTTP/1.1",
        f"Host: {server.host}",
        f"Origin: http://{server.host}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        f"Cookie: sessionid={key}",
    ]
    one = sockets.create_connection((server.host, server.port), timeout=60)
    one.sendall("\r\n".join([*lines, "", ""]).encode())
    return one


def status_of(one: sockets.socket) -> int:
    """Return the status of its answer."""
    return int(one.recv(12).split()[1])


def opened_in(server: LiveServer, pk: int, key: str) -> float:
    """Return how long (s) the opening of a WebSocket takes."""
    begun = time.monotonic()
    with greeted(server, pk, key) as one:
        assert status_of(one) == 101
        taken_s = time.monotonic() - begun
        assert CODE not in held_back(one)
    return taken_s


@pytest.mark.django_db(transaction=True)
def test_a_crowd_keeps_nobody_elses_page_from_being_live(server: LiveServer) -> None:
    cast = factories.cast()
    campaign = make.launched(cast, *make.nodes(cast.team, "a", "b"))
    mine, crowds = key_of(cast.oscar), key_of(cast.bob)
    assert opened_in(server, campaign.pk, mine) < SOON_S
    with ExitStack() as held:
        of_one = [held.enter_context(greeted(server, campaign.pk, crowds)) for _one in range(60)]
        assert [status_of(one) for one in of_one] == [101] * len(of_one)
        assert opened_in(server, campaign.pk, mine) < SOON_S
        closed = [one for one in of_one if CODE in held_back(one)]
        assert len(closed) == len(of_one) - 20
    # Keys of sessions that are none, which only the database can tell; mine was shown with its page.
    with closing(http.client.HTTPConnection(server.host, server.port, timeout=60)) as page:
        page.request("GET", "/accounts/profile/", headers={"Cookie": f"sessionid={mine}"})
        assert page.getresponse().status == 200
    with ExitStack() as held:
        of_nobody = [held.enter_context(greeted(server, campaign.pk, f"{number:032}")) for number in range(300)]
        assert opened_in(server, campaign.pk, mine) < SOON_S
        # Those that are too many to be looked up are told to come again, which takes an open socket.
        assert {status_of(one) for one in of_nobody} <= {101, 403}
    assert "Traceback" not in server.log.read_text()


def held_back(one: sockets.socket) -> bytes:
    """Return what came on a connection until now, after its status."""
    one.settimeout(0.3)
    came = b""
    try:
        while piece := one.recv(4096):
            came += piece
    except TimeoutError:
        pass
    return came
