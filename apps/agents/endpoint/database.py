"""The endpoint's way to the database: short calls in a few threads, each with its own connection."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async

from apps.core import outage

P = ParamSpec("P")
T = TypeVar("T")

# Each thread takes a connection for one call; a thousand idle agents need no more.
_THREADS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="agents-database")


class Unavailable(Exception):
    """The database does not answer now."""


async def run(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a function that reads or writes the database returns; Unavailable if it cannot be reached."""
    call = database_sync_to_async(function, thread_sensitive=False, executor=_THREADS)
    try:
        outage.watch.refuse()
        return await call(*args, **kwargs)
    except Exception as error:
        if not outage.is_unavailability(error):
            raise
        outage.watch.note(error)
        raise Unavailable(str(error)) from error
