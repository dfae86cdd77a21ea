"""Of an address of which nobody is known, a few requests are in hand at a time; all others are answered meanwhile."""

import asyncio

import pytest
from django.conf import settings
from django.test import RequestFactory

from apps.core.connections import give_back, on_wait
from apps.core.limits.at_once import Asker
from apps.core.limits.crowds import Crowds, Head, Turn

MOST = 3
HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"
PAGE = "/findings/"
NOTHING: Head = {}
TOKEN: Head = {b"authorization": b"Bearer mine"}
SESSION: Head = {b"cookie": f"a=b; {settings.SESSION_COOKIE_NAME}={'m' * 32}".encode()}
BROKEN: Head = {b"cookie": b"\xff=;;=\xfe"}


def note(crowds: Crowds, head: Head, *, is_known: bool = True) -> None:
    """Have a request come whose head this is."""
    meta = {f"HTTP_{name.decode().upper()}": value.decode("latin-1") for name, value in head.items()}
    crowds.note(RequestFactory().get(PAGE, **meta), Asker("person 1", is_known=is_known))


async def crowd_of(crowds: Crowds, head: Head = NOTHING) -> list[Turn]:
    """Return the turns of fifty requests of an address, as many of which as may are in hand."""
    turns = [crowds.turn_of(HERE, PAGE, head) for _number in range(50)]
    for turn in turns[:MOST]:
        await turn.take()
    return turns


async def is_free(crowds: Crowds, address: str, head: Head = NOTHING, path: str = PAGE) -> bool:
    """Say whether a request is taken in hand without waiting."""
    turn = crowds.turn_of(address, path, head)
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
        crowds = Crowds(MOST)
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
        crowds = Crowds(MOST)
        turns = await crowd_of(crowds)
        assert not await is_free(crowds, HERE, proof)
        note(crowds, proof)
        turns += await crowd_of(crowds, proof)
        assert await is_free(crowds, HERE, proof)
        assert not await is_free(crowds, HERE)

    asyncio.run(scenario())


def test_what_was_shown_beside_a_proof_is_none_and_one_that_is_over_is_forgotten() -> None:
    async def scenario() -> None:
        crowds = Crowds(MOST)
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
        crowds = Crowds(MOST)
        for _number in range(50):
            await crowds.turn_of("", PAGE, NOTHING).take()

    asyncio.run(scenario())


@pytest.mark.parametrize("path", ["/health/", "/health/live/", "/health/ready/"])
def test_whoever_asks_how_the_service_is_waits_for_nobody(path: str) -> None:
    async def scenario() -> None:
        crowds = Crowds(MOST)
        _turns = await crowd_of(crowds)
        assert await is_free(crowds, HERE, path=path)

    asyncio.run(scenario())


def test_who_waited_long_is_taken_in_hand_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.core.limits.crowds.WAIT_S", 0.01)

    async def scenario() -> None:
        crowds = Crowds(MOST)
        turns = await crowd_of(crowds)
        assert await is_free(crowds, HERE)
        for turn in turns:
            turn.give_back()
        assert len(await crowd_of(crowds)) == 50
        assert await is_free(crowds, HERE)

    asyncio.run(scenario())


def test_who_waits_for_something_else_lets_the_next_in(db: None) -> None:
    async def scenario() -> None:
        crowds = Crowds(MOST)
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


def test_an_address_of_which_nothing_is_left_is_forgotten() -> None:
    async def scenario() -> None:
        crowds = Crowds(MOST)
        turns = await crowd_of(crowds)
        while turns:
            turns.pop().give_back()
        assert not crowds._turns

    asyncio.run(scenario())


def test_of_those_who_are_known_the_latest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.core.limits.crowds._MOST_REMEMBERED", 2)
    crowds = Crowds(MOST)
    note(crowds, NOTHING)
    for name in (b"1", b"2", b"1", b"3"):
        note(crowds, {b"authorization": name})
    assert list(crowds._known) == [hash((b"1", "")), hash((b"3", ""))]
