"""Teams' agents are attended to in turn: however much one of them sends, the others are not kept waiting."""

import asyncio
import json
import threading
import time
import uuid
from typing import Any

import pytest

from apps.agents.endpoint import database, intake, places, protocol, room
from apps.core import bodies
from tests.agents import factories
from tests.agents.live import Client, LiveServer


async def hold(at: places.WaitingPlaces, team: int, log: list[int], until: asyncio.Event) -> None:
    async with at.place(team):
        log.append(team)
        await until.wait()


async def turns(count: int = 20) -> None:
    for _turn in range(count):
        await asyncio.sleep(0)


async def test_a_team_has_some_places_and_the_rest_is_there_for_others() -> None:
    at, log, until = places.WaitingPlaces(4, 2), list[int](), asyncio.Event()
    tasks = [asyncio.create_task(hold(at, 1, log, until)) for _number in range(10)]
    await turns()
    tasks += [asyncio.create_task(hold(at, 2, log, until)), asyncio.create_task(hold(at, 3, log, until))]
    await turns()
    assert log == [1, 1, 2, 3]
    until.set()
    await asyncio.gather(*tasks)
    assert log == [1, 1, 2, 3, *[1] * 8]
    assert (at.turns._free, at.turns._in_hand, at.turns._ranks) == (4, {}, {})


async def test_teams_that_wait_are_let_in_in_turn() -> None:
    at, log = places.WaitingPlaces(1, 1), list[int]()
    first = asyncio.Event()
    tasks = [asyncio.create_task(hold(at, 9, log, first))]
    await turns()
    done = asyncio.Event()
    done.set()
    tasks += [asyncio.create_task(hold(at, team, log, done)) for team in (1, 1, 1, 1, 2, 2, 3)]
    await turns()
    first.set()
    await asyncio.gather(*tasks)
    assert log == [9, 1, 2, 3, 1, 2, 1, 1]


async def test_whoever_hangs_up_leaves_the_place_to_the_next() -> None:
    at, log, until = places.WaitingPlaces(1, 1), list[int](), asyncio.Event()
    first, second, third = (asyncio.create_task(hold(at, team, log, until)) for team in (1, 2, 3))
    await turns()
    second.cancel()
    await turns()
    first.cancel()
    await turns()
    assert log == [1, 3]
    third.cancel()
    await asyncio.gather(first, second, third, return_exceptions=True)
    # One that is let in, and hangs up before it knows.
    async with at.place(1):
        waiting = asyncio.create_task(hold(at, 2, log, until))
        await turns()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert (at.turns._free, at.turns._in_hand, at.turns._ranks) == (1, {}, {})


async def test_no_more_of_a_team_wait_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MOST_WAITING", 3)
    at, log, until = places.WaitingPlaces(1, 1), list[int](), asyncio.Event()
    tasks = [asyncio.create_task(hold(at, 1, log, until)) for _number in range(4)]
    await turns()
    with pytest.raises(room.Problem) as refusal:
        await hold(at, 1, log, until)
    assert refusal.value.status == 503
    until.set()
    await asyncio.gather(*tasks)


async def test_a_call_of_a_team_that_sends_much_keeps_no_other_waiting() -> None:
    release = threading.Event()
    slow = [asyncio.create_task(database.run_for(1, release.wait, 30)) for _number in range(20)]
    await asyncio.sleep(0.05)
    began = time.monotonic()
    assert await database.run_for(2, lambda: "answered") == "answered"
    assert not any(task.done() for task in slow)
    release.set()
    await asyncio.gather(*slow)
    assert time.monotonic() - began < 25


async def test_large_bodies_are_read_one_at_a_time_and_small_ones_meanwhile() -> None:
    log, until = list[str](), asyncio.Event()

    async def read(team: int, size: int) -> None:
        async with database.turn_of_body(team, size):
            log.append(f"{team}: {size > database.LARGE_BYTES}")
            await until.wait()

    large, small = database.LARGE_BYTES + 1, database.LARGE_BYTES
    tasks = [
        asyncio.create_task(read(*body)) for body in ((1, large), (1, large), (2, large), (1, small), (2, small))
    ]
    await turns()
    assert log == ["1: True", "1: False", "2: False"]
    until.set()
    await asyncio.gather(*tasks)
    # Team 1 has just had its turn.
    assert log[3:] == ["2: True", "1: True"]


def poll(ids: int, blanks: int = 0) -> bytes:
    named = [str(uuid.uuid4()) for _number in range(ids)]
    body: dict[str, Any] = {"held": named, "stopping": named, "running": named, "troubles": []}
    return json.dumps(body).encode() + b" " * blanks


def test_a_question_names_all_that_an_agent_may_hold_and_no_more() -> None:
    longest = poll(protocol.MOST_HELD)
    assert len(longest) < bodies.most_bytes(bodies.BodyKind.QUESTION)
    question, troubles = intake.read_poll(longest)
    assert (len(question.held), troubles) == (protocol.MOST_HELD, ())
    with pytest.raises(room.Problem) as refusal:
        intake.read_poll(poll(protocol.MOST_HELD + 1))
    assert refusal.value.status == 400


def test_a_question_longer_than_all_that_it_may_name_is_refused(server: LiveServer) -> None:
    _agent, token = factories.agent()
    status, answer = Client(server.port, token).call("poll", b'{"held": []}' + b" " * 200_000)
    assert (status, answer["code"]) == (413, "too-large")


async def test_a_place_that_is_left_as_the_next_hangs_up_is_not_lost() -> None:
    at, log, until = places.WaitingPlaces(1, 1), list[int](), asyncio.Event()
    async with at.place(1):
        gone, waiting = (asyncio.create_task(hold(at, team, log, until)) for team in (2, 3))
        await turns()
        gone.cancel()
    until.set()
    await asyncio.gather(gone, waiting, return_exceptions=True)
    assert log == [3]
    assert (at.turns._free, at.turns._in_hand, at.turns._ranks) == (1, {}, {})
