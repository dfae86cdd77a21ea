"""Of all who wait in one loop who had least is next, and nothing stays of whoever gave up."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from apps.core.limits import fair_turns
from apps.core.limits.fair_turns import FairTurns

A, B, C = "192.0.2.1", "192.0.2.2", "192.0.2.3"


def run(
    scenario: Callable[[FairTurns], Awaitable[None]],
    most: int = 2,
    most_of_address: int = 1,
    first: int = fair_turns.FIRST,
) -> None:
    """Run a scenario on new turns, after which none may be left."""

    async def whole() -> None:
        turns = FairTurns(most, most_of_address, first=first)
        await scenario(turns)
        assert turns._free == most
        assert not (turns._in_hand or turns._ranks or any(turns._waiting))

    asyncio.run(asyncio.wait_for(whole(), 20))


def asked(turns: FairTurns, *addresses: str) -> "list[asyncio.Task[None]]":
    """Return those who wait for a turn of these addresses."""
    return [asyncio.create_task(turns.take(address, within_s=5)) for address in addresses]


async def done(tasks: "list[asyncio.Task[None]]") -> list[bool]:
    """Return who of them has a turn."""
    for _round in range(5):
        await asyncio.sleep(0)
    return [task.done() for task in tasks]


def test_one_address_has_fewer_than_all() -> None:
    async def scenario(turns: FairTurns) -> None:
        tasks = asked(turns, A, A, B)
        assert await done(tasks) == [True, False, True]
        turns.give_back(B)
        assert await done(tasks) == [True, False, True]
        turns.give_back(A)
        assert await done(tasks) == [True, True, True]
        turns.give_back(A)

    run(scenario)


def test_who_had_few_lately_is_before_who_had_many(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(turns: FairTurns) -> None:
        for _number in range(fair_turns.FIRST):
            await turns.take(A, within_s=0)
            turns.give_back(A)
        tasks = asked(turns, C, A, B)
        assert await done(tasks) == [True, False, False]
        turns.give_back(C)
        assert await done(tasks) == [True, False, True]
        turns.give_back(B)
        assert await done(tasks) == [True, True, True]
        turns.give_back(A)
        monkeypatch.setattr(fair_turns, "_AFRESH_AFTER_S", 0.0)
        tasks = asked(turns, C, A, B)
        for address in (C, A, B):
            assert await done(tasks) == [number <= (C, A, B).index(address) for number in range(3)]
            turns.give_back(address)

    run(scenario, most=1)


def test_of_others_who_has_least_in_hand_is_next() -> None:
    async def scenario(turns: FairTurns) -> None:
        tasks = asked(turns, A, A, B, A, B, C)
        assert await done(tasks) == [True, True, True, False, False, False]
        turns.give_back(A)
        assert await done(tasks) == [True, True, True, False, False, True]
        turns.give_back(A)
        assert await done(tasks) == [True, True, True, True, False, True]
        turns.give_back(C)
        assert all(await done(tasks))
        for address in (A, B, B):
            turns.give_back(address)

    run(scenario, most=3, most_of_address=2, first=0)


def test_who_waits_no_more_takes_no_turn() -> None:
    async def scenario(turns: FairTurns) -> None:
        await turns.take(A, within_s=0)
        tasks = asked(turns, B, C, C)
        await done(tasks)
        # At the moment in which its turn comes, and just before.
        tasks[0].cancel()
        turns.give_back(A)
        tasks[1].cancel()
        assert await done(tasks) == [True, True, True]
        assert tasks[0].cancelled()
        assert tasks[1].cancelled()
        assert not tasks[2].cancelled()
        with pytest.raises(TimeoutError):
            await turns.take(B, within_s=0.01)
        turns.give_back(C)

    run(scenario, most=1)


def test_the_latest_addresses_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_turns, "_MOST_REMEMBERED", 2)

    async def scenario(turns: FairTurns) -> None:
        for address in (A, B, A, C):
            await turns.take(address, within_s=0)
            turns.give_back(address)
        assert list(turns._lately._had) == [A, C]

    run(scenario)
