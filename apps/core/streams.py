"""Send what is made piece by piece: under ASGI from a thread of its own, with a database connection of its own."""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request

from apps.core import downloads, endings, timeouts
from apps.core.connections import give_back
from apps.core.limits import crowds
from apps.core.limits import middleware as limits
from apps.core.log_lines import ExpectedOutcome

Pieces = Iterator[bytes]


# Small pieces are joined to so many bytes, or to what comes within so long (s), for each costs a turn of the loop and
# a change of threads. The first is sent at once.
JOINED_BYTES = 64 * 1024
JOINED_S = 0.5


class Stalled(ExpectedOutcome):
    """The reader took nothing, or too little, for too long."""


def send(
    request: HttpRequest | Request,
    make: Callable[[], Pieces],
    *,
    name: str,
    kind: str,
    reads_database: bool = True,
    owner: str = "",
    size: int | None = None,
) -> StreamingHttpResponse:
    """Return the response that sends the pieces that `make` gives as a file of a name, of what is an `owner`'s.

    `size` is that of the file (bytes), where it is known before.
    outage.Busy (503) if so many are being sent already that pages would be left without a connection, and
    LimitExceededError (429) if too many of them to the same reader. What breaks the first piece is raised, too: an
    answer that has begun cannot be another.
    """
    plain = getattr(request, "_request", request)
    pieces: Any
    if isinstance(plain, ASGIRequest):
        # Django would first gather what a plain iterator gives.
        place = downloads.place_for(plain, owner, reads_database=reads_database)
        limits.add(plain, [place.state])
        pieces = _Threaded(make, place, name, reads_database)
        pieces.begin()
    else:
        pieces = make()
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Accel-Buffering": "no"}
    if size is not None:
        headers["Content-Length"] = str(size)
    return StreamingHttpResponse(pieces, content_type=kind, headers=headers)


class _Threaded:
    """Pieces that are made in one thread, for a database connection belongs to one."""

    def __init__(
        self, make: Callable[[], Pieces], place: downloads.DownloadPlace, name: str, reads_database: bool
    ) -> None:
        self._name = name
        self._place = place
        self._make = make
        self._reads_database = reads_database
        self._pace = place.pace
        self._pieces: Pieces | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")
        self._context = contextvars.copy_context()
        self._lock = threading.Lock()
        self._is_closed = False
        self._is_stalled = False
        self._timer: asyncio.TimerHandle | threading.Timer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._first: list[bytes | None] = []

    def begin(self) -> None:
        """Make the first piece."""
        try:
            # The request has read what it needs: its connection is another's now.
            give_back()
            self._first.append(self._executor.submit(self._context.run, self._step).result())
            # It stalls, too, if nobody comes to take the first one. No loop runs in the thread of a view.
            self._timer = threading.Timer(downloads.STALL_S, self._give_up)
            self._timer.daemon = True
            self._timer.start()
            # A reader who goes now leaves a response that nobody closes.
            endings.at_end(self.close)
        except BaseException:
            self.close()
            raise

    def __aiter__(self) -> "_Threaded":
        return self

    async def __anext__(self) -> bytes:
        """Return the next piece."""
        if self._timer is not None:
            self._timer.cancel()
        self._pace.take()
        if self._is_stalled:
            raise Stalled(f"The reader of {self._name!r} took too little for too long.")
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._pace.give_up = partial(self._loop.call_soon_threadsafe, self._give_way)
        try:
            piece = await self._next()
        except BaseException:
            self.close()
            raise
        if piece is None:
            self.close()
            raise StopAsyncIteration
        self._pace.give(len(piece))
        self._timer = self._loop.call_later(max(0.0, self._pace.left_s()), self._give_up)
        return piece

    async def _next(self) -> bytes | None:
        if self._first:
            return self._first.pop()
        assert self._loop
        async with crowds.step():
            return await self._loop.run_in_executor(self._executor, self._context.run, self._step)

    def close(self) -> None:
        """Make no more; Django calls it at the end of each response, also when its reader has gone."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        if isinstance(self._timer, threading.Timer):
            self._timer.cancel()
        elif self._timer is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._timer.cancel)
        self._executor.submit(self._end)
        self._executor.shutdown(wait=False)

    def _give_way(self) -> None:
        if self._pace.behind_s():
            self._give_up()

    def _give_up(self) -> None:
        self._is_stalled = True
        self.close()

    def _step(self) -> bytes | None:
        if self._pieces is None:
            if self._reads_database:
                timeouts.begin_long_work()
            self._pieces = self._make()
            return next(self._pieces, None)
        until, joined, size = time.monotonic() + JOINED_S, list[bytes](), 0
        for piece in self._pieces:
            joined.append(piece)
            size += len(piece)
            if size >= JOINED_BYTES or time.monotonic() >= until:
                break
        return b"".join(joined) if joined else None

    def _end(self) -> None:
        try:
            close = getattr(self._pieces, "close", None)
            if close:
                close()
        finally:
            try:
                timeouts.end_long_work()
                connection.close()
            finally:
                self._place.give_back()
