"""The memory of agents' bodies: nobody keeps it for little, no team has all of it, and all of it comes back."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from apps.agents.endpoint import exchange, room
from apps.core import room as core_room
from apps.core.bodies import BodyKind

MIB = room.MIB
SCOPE = {"type": "http", "method": "POST", "path": "/agent/v1/poll", "headers": [(b"content-length", b"1000000")]}


@pytest.fixture
def reports() -> Iterator[room.AgentRoom]:
    yield room.AgentRoom(3 * MIB, 8 * MIB)


async def hold(reports: room.AgentRoom, agent: int, team: int, size: int) -> bytes:
    """Send so much of a body, and never the rest."""
    pieces = iter([{"type": "http.request", "body": b"x" * size, "more_body": True}])

    async def receive() -> Any:
        for piece in pieces:
            return piece
        return await asyncio.Event().wait()

    with reports.share_of(agent, team) as share:
        return await exchange.read_body({**SCOPE, "headers": []}, receive, BodyKind.REPORT, share)


async def begun(*bodies: Any) -> list[asyncio.Task[bytes]]:
    """Return the work at these bodies, each of which has come as far as it will."""
    tasks = [asyncio.create_task(body) for body in bodies]
    for _turn in range(3):
        await asyncio.sleep(0)
    return tasks


async def end(*tasks: asyncio.Task[bytes]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_an_agent_has_a_share_a_team_half_and_all_have_it_together(reports: room.AgentRoom) -> None:
    with ExitStack() as stack:
        first, second, third, other, last = (
            stack.enter_context(reports.share_of(agent, team))
            for agent, team in ((1, 1), (1, 1), (2, 1), (3, 2), (4, 2))
        )
        first.grow(2 * MIB)
        with pytest.raises(room.Problem, match="by this agent") as refusal:
            second.grow(2 * MIB)
        assert (refusal.value.status, refusal.value.code) == (503, "unavailable")
        with pytest.raises(room.Problem, match="this team's agents"):
            third.grow(2 * MIB)
        third.grow(MIB)
        other.grow(2 * MIB)
        last.grow(MIB)
        with reports.share_of(5, 3) as stranger, pytest.raises(room.Problem, match="all agents"):
            stranger.grow(2 * MIB)
    # All of it came back, also of what was refused.
    with reports.share_of(1, 1) as share, reports.share_of(2, 2) as other:
        share.grow(3 * MIB)
        other.grow(3 * MIB)


async def test_what_is_only_announced_takes_no_room(reports: room.AgentRoom) -> None:
    async def receive() -> Any:
        return await asyncio.Event().wait()

    async def announce(agent: int) -> bytes:
        with reports.share_of(agent, agent) as share:
            return await exchange.read_body(SCOPE, receive, BodyKind.NEWS, share)

    held = await begun(*(announce(agent) for agent in range(40)))
    with reports.share_of(99, 99) as share:
        share.grow(3 * MIB)
    assert not any(task.done() for task in held)
    await end(*held)


async def test_where_it_is_full_the_slowest_that_has_come_for_long_gives_way(
    reports: room.AgentRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, fast, other = await begun(
        hold(reports, 1, 1, MIB), hold(reports, 2, 1, 2 * MIB), hold(reports, 3, 2, 3 * MIB)
    )
    with reports.share_of(9, 9) as share:
        with pytest.raises(room.Problem, match="all agents"):
            share.grow(3 * MIB)
        assert not (slow.done() or fast.done() or other.done())
        monkeypatch.setattr(core_room, "GRACE_S", 0.0)
        share.grow(3 * MIB)
        with pytest.raises(room.Problem, match="too slowly") as refusal:
            await slow
        assert refusal.value.status == 503
        assert not (fast.done() or other.done())
    await end(fast, other)
    assert (reports.all._taken, reports.all._shares) == ({}, set())


async def test_what_has_come_whole_does_not_give_way(
    reports: room.AgentRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core_room, "GRACE_S", 0.0)
    with reports.share_of(1, 1) as first, reports.share_of(2, 2) as second, reports.share_of(3, 3) as third:
        # Read, and being stored: nothing is won by forgetting it.
        first.grow(3 * MIB)
        second.grow(3 * MIB)
        with pytest.raises(room.Problem, match="all agents"):
            third.grow(3 * MIB)


async def test_a_request_that_is_ended_by_others_ends_as_it_does(reports: room.AgentRoom) -> None:
    (task,) = await begun(hold(reports, 1, 1, MIB))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reports.all.size == 0
