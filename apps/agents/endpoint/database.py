"""The endpoint's way to the database: short calls in a few threads, each with its own connection."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async

from apps.agents.endpoint.places import WaitingPlaces
from apps.agents.endpoint.room import Problem
from apps.core import outage
from apps.core.limits.fair_turns import FairTurns

P = ParamSpec("P")
T = TypeVar("T")

# Each thread takes a connection for one call; a thousand idle agents need no more.
COUNT = 4
_THREADS = ThreadPoolExecutor(max_workers=COUNT, thread_name_prefix="agents-database")
# Whatever a team's agents send, one of the threads is there for others.
_places: "WeakKeyDictionary[asyncio.AbstractEventLoop, WaitingPlaces]" = WeakKeyDictionary()
# All of whom no agent is known have two threads at most, one address one of them, and wait so long (s) for it.
STRANGERS = 2
STRANGERS_WAIT_S = 15.0
_strangers: "WeakKeyDictionary[asyncio.AbstractEventLoop, FairTurns]" = WeakKeyDictionary()


class Unavailable(Exception):
    """The database does not answer now."""


# To read the JSON of many MiB stops all other threads for tenths of a second: one at a time.
LARGE_BYTES = 4 * 1024 * 1024
_large_places: "WeakKeyDictionary[asyncio.AbstractEventLoop, WaitingPlaces]" = WeakKeyDictionary()


async def run_for(team: int, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `run` does, when the team's turn has come."""
    places = _places.setdefault(asyncio.get_running_loop(), WaitingPlaces(COUNT, COUNT - 1))
    async with places.place(team):
        return await run(function, *args, **kwargs)


async def run_for_stranger(address: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `run` does, when the turn of an address has come; Problem 503 if that takes too long."""
    turns = _strangers.setdefault(asyncio.get_running_loop(), FairTurns(STRANGERS, STRANGERS - 1))
    try:
        await turns.take(address, within_s=STRANGERS_WAIT_S)
    except TimeoutError:
        raise Problem(503, "unavailable", "Many of whom no agent is known ask at this moment: try again.") from None
    try:
        return await run(function, *args, **kwargs)
    finally:
        turns.give_back(address)


@asynccontextmanager
async def turn_of_body(team: int, size: int) -> AsyncIterator[None]:
    """Wait, with a body of so many bytes that is large, until no other large one is read."""
    if size <= LARGE_BYTES:
        yield
        return
    async with _large_places.setdefault(asyncio.get_running_loop(), WaitingPlaces(1, 1)).place(team):
        yield


async def run(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a function that reads or writes the database returns; Unavailable if it cannot be reached."""
    call = database_sync_to_async(function, thread_sensitive=False, executor=_THREADS)
    try:
        outage.watch.refuse()
        with outage.broker_budget():
            return await call(*args, **kwargs)
    except Exception as error:
        if not outage.is_unavailability(error):
            raise
        outage.watch.note(error)
        raise Unavailable(str(error)) from error
