"""Of an address of which nobody is known, a few requests are in hand at a time; all others are answered meanwhile."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import RequestFactory

from apps.core import web
from apps.core.connections import give_back, on_wait
from apps.core.limits import crowds as limits
from apps.core.limits.askers import HEALTH
from apps.core.limits.at_once import Asker
from apps.core.limits.crowds import CrowdedError, Crowds, Turn

MOST = limits.MOST[limits.PAGES] - 1
Head = Mapping[bytes, bytes]
HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"
PAGE = "/findings/"
NOTHING: Head = {}
TOKEN: Head = {b"authorization": b"Bearer mine"}
SESSION: Head = {b"cookie": f"a=b; {settings.SESSION_COOKIE_NAME}={'m' * 32}".encode()}
BROKEN: Head = {b"cookie": b"\xff=;;=\xfe"}


def credentials_of(head: Head) -> tuple[bytes, bytes]:
    """Return what of a head may say who sends it."""
    return head.get(b"authorization", b""), head.get(b"cookie", b"")


def note(crowds: Crowds, head: Head, name: str = "person 1", *, is_known: bool = True) -> None:
    """Have a request come whose head this is."""
    meta = {f"HTTP_{name.decode().upper()}": value.decode("latin-1") for name, value in head.items()}
    crowds.note(RequestFactory().get(PAGE, **meta), Asker(name, is_known=is_known))


async def crowd_of(crowds: Crowds, head: Head = NOTHING) -> list[Turn]:
    """Return the turns of fifty requests of an address, as many of which as may are in hand."""
    turns = [crowds.turn_of(HERE, PAGE, *credentials_of(head)) for _number in range(50)]
    for turn in turns[:MOST]:
        await turn.take()
    return turns


async def is_free(crowds: Crowds, address: str, head: Head = NOTHING, path: str = PAGE) -> bool:
    """Say whether a request is taken in hand without waiting."""
    turn = crowds.turn_of(address, path, *credentials_of(head))
    try:
        async with asyncio.timeout(0.05):
            await turn.take()
    except TimeoutError:
        return False
    turn.give_back()
    return True


@pytest.mark.parametrize("claim", [NOTHING, TOKEN, SESSION, BROKEN])
def test_a_crowd_waits_for_itself_alone_whatever_it_claims(claim: Head) -> None:
    async def scenario() -> None:
        crowds = Crowds()
        turns = await crowd_of(crowds, claim)
        assert not await is_free(crowds, HERE, claim)
        assert await is_free(crowds, ELSEWHERE)
        turns[0].give_back()
        turns[0].give_back()
        await turns[MOST].take()
        await turns[MOST].take()
        assert not await is_free(crowds, HERE)
        turns[MOST].give_back()
        assert await is_free(crowds, HERE)

    asyncio.run(scenario())


@pytest.mark.parametrize("proof", [TOKEN, SESSION])
def test_whoever_showed_who_they_are_waits_for_no_crowd_of_their_address(proof: Head) -> None:
    async def scenario() -> None:
        crowds = Crowds()
        turns = await crowd_of(crowds)
        assert not await is_free(crowds, HERE, proof)
        note(crowds, proof)
        turns += await crowd_of(crowds, proof)
        assert await is_free(crowds, HERE, proof)
        assert not await is_free(crowds, HERE)

    asyncio.run(scenario())


def test_what_was_shown_beside_a_proof_is_none_and_one_that_is_over_is_forgotten() -> None:
    async def scenario() -> None:
        crowds = Crowds()
        _turns = await crowd_of(crowds)
        note(crowds, {**SESSION, b"authorization": b"Bearer invented"})
        assert not await is_free(crowds, HERE, {b"authorization": b"Bearer invented"})
        note(crowds, SESSION)
        assert await is_free(crowds, HERE, SESSION)
        note(crowds, SESSION, is_known=False)
        assert not await is_free(crowds, HERE, SESSION)

    asyncio.run(scenario())


def test_who_has_no_address_waits_for_nobody() -> None:
    async def scenario() -> None:
        crowds = Crowds()
        for _number in range(50):
            await crowds.turn_of("", PAGE, *credentials_of(NOTHING)).take()

    asyncio.run(scenario())


def test_whoever_asks_how_the_service_is_waits_for_a_crowd_of_their_own_kind_alone() -> None:
    async def scenario() -> None:
        crowds = Crowds()
        _turns = await crowd_of(crowds)
        assert await is_free(crowds, HERE, path="/health/")
        assert not await is_free(crowds, HERE, path="/health/nothing/")
        asked = [
            crowds.turn_of(HERE, "/health/", *credentials_of(NOTHING)) for _number in range(limits.MOST[HEALTH] - 1)
        ]
        for turn in asked:
            await turn.take()
        assert not await is_free(crowds, HERE, path="/health/")
        assert await is_free(crowds, ELSEWHERE, path="/health/")

    asyncio.run(scenario())


@pytest.mark.parametrize(("method", "status"), [("GET", 200), ("HEAD", 200), ("POST", 405)])
def test_that_the_process_lives_is_said_without_a_thread(
    method: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever supervises the process ends it if this is not answered."""
    handler = web.PageHandler()
    monkeypatch.setattr("django.core.handlers.asgi.ASGIHandler.handle", lambda *_arguments: pytest.fail("a thread"))
    sent: list[dict[str, Any]] = []
    scope = {"type": "http", "method": method, "path": "/health/live/", "headers": [], "client": (HERE, 1)}

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(handler.handle(scope, receive, send))
    assert sent[0]["status"] == status


def test_who_waited_in_vain_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let in at once, all of a crowd would have a thread each."""
    monkeypatch.setattr("apps.core.limits.crowds.WAIT_S", 0.01)

    async def scenario() -> None:
        crowds = Crowds()
        turns = await crowd_of(crowds)
        for turn in turns[MOST:]:
            with pytest.raises(CrowdedError):
                await turn.take()
        for turn in turns:
            turn.give_back()
        assert await is_free(crowds, HERE)

    asyncio.run(scenario())


@pytest.mark.django_db(transaction=True)
def test_a_body_in_pieces_is_read_as_one_of_known_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends without knowing the length was told that nothing came, or that all was well."""
    lengths: list[tuple[str, bytes]] = []

    def look(request: Any) -> HttpResponse:
        lengths.append((request.META.get("CONTENT_LENGTH", ""), request.read()))
        return HttpResponse()

    handler = web.PageHandler()
    monkeypatch.setattr(handler, "get_response", look)
    messages = [{"type": "http.request", "body": part, "more_body": part != b"}"} for part in (b"{", b"}")]

    async def receive() -> dict[str, Any]:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    async def send(message: dict[str, Any]) -> None:
        """Take it."""

    headers = [(b"host", b"localhost"), (b"transfer-encoding", b"chunked")]
    scope = {"type": "http", "method": "PATCH", "path": "/api/v1/campaigns/1/", "headers": headers}
    scope |= {"client": (HERE, 1), "query_string": b""}
    asyncio.run(asyncio.wait_for(handler.handle(scope, receive, send), 20))
    assert lengths == [("2", b"{}")]


def test_what_shows_nobody_any_more_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token that was revoked: nobody is known to have sent it, so that no view is asked."""
    crowds = Crowds()
    monkeypatch.setattr("apps.core.limits.crowds.of_process", crowds)
    note(crowds, TOKEN)
    handler = web.PageHandler()
    scope = {"type": "http", "method": "GET", "path": PAGE, "headers": list(TOKEN.items()), "client": (HERE, 1)}

    async def refuse(_self: Any, _scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 401, "headers": []})

    async def receive_or_send(*_message: Any) -> None:
        return None

    monkeypatch.setattr("django.core.handlers.asgi.ASGIHandler.handle", refuse)
    asyncio.run(handler.handle(scope, receive_or_send, receive_or_send))
    assert not crowds._known


def test_who_waits_for_something_else_lets_the_next_in(db: None) -> None:
    async def scenario() -> None:
        crowds = Crowds()
        turns = await crowd_of(crowds)
        loop = asyncio.get_running_loop()
        on_wait.set(lambda: loop.call_soon_threadsafe(turns[0].give_back))
        assert not await is_free(crowds, HERE)
        await asyncio.to_thread(give_back)
        assert await is_free(crowds, HERE)
        # Whose turn has not come keeps it.
        turns[-1].give_back()
        await turns[-1].take()
        assert not await is_free(crowds, HERE)

    asyncio.run(scenario())


def test_of_all_addresses_together_a_few_are_in_hand_and_a_visitor_is_next() -> None:
    async def scenario() -> None:
        crowds = Crowds()
        turns = [crowds.turn_of(f"198.51.100.{number % 30}", PAGE, b"", b"") for number in range(900)]
        waiting = [asyncio.ensure_future(turn.take()) for turn in turns]
        await asyncio.sleep(0)
        visitor = asyncio.ensure_future(crowds.turn_of(HERE, PAGE, b"", b"").take())
        had: set[int] = set()
        for _round in range(100):
            await asyncio.sleep(0)
            in_hand = {number for number, each in enumerate(waiting) if each.done()} - had
            assert len(in_hand) + visitor.done() <= limits.MOST[limits.PAGES]
            had |= in_hand
            for number in in_hand:
                turns[number].give_back()
        assert len(had) > 100
        assert visitor.done()
        late = asyncio.ensure_future(crowds.turn_of(ELSEWHERE, PAGE, b"", b"").take())
        await asyncio.sleep(0)
        in_hand = {number for number, each in enumerate(waiting) if each.done()} - had
        assert in_hand
        assert not late.done()
        turns[in_hand.pop()].give_back()
        await asyncio.sleep(0)
        assert late.done()
        for each in waiting:
            each.cancel()

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", [limits.SIGN_IN, HEALTH])
def test_who_signs_in_waits_for_no_reader_of_pages(kind: str) -> None:
    async def scenario() -> None:
        crowds = Crowds()
        turns = [
            crowds.turn_of(f"198.51.100.{number}", PAGE, b"", b"") for number in range(limits.MOST[limits.PAGES])
        ]
        for turn in turns:
            await turn.take()
        assert not await is_free(crowds, HERE)
        assert await is_free(crowds, HERE, path=HEALTH if kind == HEALTH else "/accounts/login/")

    asyncio.run(scenario())


def test_of_those_who_are_known_the_latest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.core.limits.crowds._MOST_REMEMBERED", 2)
    crowds = Crowds()
    note(crowds, NOTHING)
    for name in (b"1", b"2", b"1", b"3"):
        note(crowds, {b"authorization": name})
    assert list(crowds._known) == [hash((b"1", "")), hash((b"3", ""))]


def test_nobody_pushes_out_others_by_what_they_send_beside_their_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.core.limits.crowds._MOST_REMEMBERED", 100)
    crowds = Crowds()
    note(crowds, TOKEN, "person 2")
    for number in range(200):
        note(crowds, {**SESSION, b"authorization": b"Bearer invented %d" % number})
        note(crowds, SESSION)
    assert all(crowds.knows(*credentials_of(head)) for head in (TOKEN, SESSION))
    assert len(crowds._known) == 1 + limits._MOST_OF_PERSON
