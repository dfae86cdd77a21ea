"""While somebody who is known is served, others take their turns one by one; who returns signs in beside a crowd."""

import asyncio

import pytest

from apps.core.limits import crowds as limits
from apps.core.limits.crowds import Crowds
from tests.core.test_crowds import (
    ELSEWHERE,
    HERE,
    NOTHING,
    PAGE,
    SESSION,
    TOKEN,
    Head,
    credentials_of,
    is_free,
    note,
)

LOGIN = "/accounts/login/"
NARROWED = {limits.PAGES: PAGE, limits.SIGN_IN: LOGIN}


@pytest.mark.parametrize("kind", NARROWED)
@pytest.mark.parametrize("proof", [SESSION, TOKEN])
def test_beside_who_is_known_others_go_on_one_by_one(kind: str, proof: Head, monkeypatch: pytest.MonkeyPatch) -> None:
    path = NARROWED[kind]
    monkeypatch.setattr("apps.core.limits.shared_turns.STAYS_S", 0.2)

    async def scenario() -> None:
        crowds = Crowds()
        note(crowds, proof)
        crowds._addresses.clear()
        turns = [crowds.turn_of(f"192.0.2.{number}", path, b"", b"") for number in range(50)]
        waiting = [asyncio.ensure_future(turn.take()) for turn in turns]
        await asyncio.sleep(0)
        assert sum(one.done() for one in waiting) == limits.MOST[kind]
        member_turn = crowds.turn_of(HERE, PAGE, *credentials_of(proof))
        await member_turn.take()
        had = 0
        for number in range(20):
            turns[number].give_back()
            await asyncio.sleep(0)
            had = sum(one.done() for one in waiting)
            assert had - number - 1 == max(1, limits.MOST[kind] - number - 1), "they wait, and go on"
        member_turn.give_back()
        turns[20].give_back()
        await asyncio.sleep(0.3)
        assert sum(one.done() for one in waiting) == 22, "what belongs to a page comes after it"
        turns[21].give_back()
        await asyncio.sleep(0)
        assert sum(one.done() for one in waiting) == 22 + limits.MOST[kind]
        for one in waiting:
            one.cancel()

    asyncio.run(scenario())


@pytest.mark.parametrize("path", ["/health/", LOGIN])
def test_neither_health_nor_who_returns_waits_for_who_is_known(path: str) -> None:
    async def scenario() -> None:
        crowds = Crowds()
        note(crowds, SESSION)
        await crowds.turn_of(HERE, PAGE, *credentials_of(SESSION)).take()
        kind = limits.HEALTH if path == "/health/" else limits.RETURN
        for _number in range(limits.MOST[kind] - 1):
            assert await is_free(crowds, "127.0.0.1", path=path)
            await crowds.turn_of("127.0.0.1", path, b"", b"").take()

    asyncio.run(scenario())


def test_a_crowd_that_signs_in_keeps_nobody_waiting_who_was_signed_in_where_they_are() -> None:
    async def scenario() -> None:
        crowds = Crowds()
        for number in range(limits.MOST[limits.SIGN_IN]):
            await crowds.turn_of(f"198.51.100.{number}", LOGIN, b"", b"").take()
        assert not await is_free(crowds, "127.0.0.1", NOTHING, LOGIN)
        note(crowds, SESSION)
        assert await is_free(crowds, "127.0.0.1", NOTHING, LOGIN)
        assert not await is_free(crowds, ELSEWHERE, NOTHING, LOGIN)

    asyncio.run(scenario())
