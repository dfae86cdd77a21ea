"""Send what is made piece by piece: under ASGI from a thread of its own, with a database connection of its own."""

import asyncio
import contextvars
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections, connection
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request

from apps.core import outage, timeouts

Pieces = Iterator[bytes]

# A reader who takes nothing for so long is given up: what is read for it stands in nobody's way any longer (s).
STALL_S = 45.0
# Each holds a connection until its reader has all of it: most of a web process's are left to pages.
_slots = threading.BoundedSemaphore(max(1, settings.WEB_CONNECTIONS // 3))


class Stalled(Exception):
    """The reader took nothing for too long."""


def send(
    request: HttpRequest | Request, make: Callable[[], Pieces], *, name: str, kind: str, reads_database: bool = True
) -> StreamingHttpResponse:
    """Return the response that sends the pieces that `make` gives as a file of a name.

    outage.Busy (503) if so many are being sent already that pages would be left without a connection.
    """
    plain = getattr(request, "_request", request)
    # Under ASGI Django would first gather what a plain iterator gives.
    pieces: Any = _Threaded(make, reads_database=reads_database) if isinstance(plain, ASGIRequest) else make()
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(pieces, content_type=kind, headers=headers)


class _Threaded:
    """Pieces that are made in one thread, for a database connection belongs to one."""

    def __init__(self, make: Callable[[], Pieces], *, reads_database: bool) -> None:
        if reads_database and not _slots.acquire(blocking=False):
            raise outage.Busy(_("Many files are being downloaded at this moment. Try again in a minute."))
        # Also for a response that nobody came to close.
        self._give_slot_back = weakref.finalize(self, _slots.release if reads_database else lambda: None)
        self._make = make
        self._reads_database = reads_database
        self._pieces: Pieces | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")
        self._context = contextvars.copy_context()
        self._is_closed = False
        self._is_stalled = False
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __aiter__(self) -> "_Threaded":
        return self

    async def __anext__(self) -> bytes:
        """Return the next piece."""
        if self._timer is not None:
            self._timer.cancel()
        if self._is_stalled:
            raise Stalled(f"Nothing was taken for {STALL_S:g} s.")
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            # The request has read what it needs: its connection is another's now.
            await sync_to_async(close_old_connections)()
        try:
            piece = await self._loop.run_in_executor(self._executor, self._context.run, self._step)
        except BaseException:
            self.close()
            raise
        if piece is None:
            self.close()
            raise StopAsyncIteration
        self._timer = self._loop.call_later(STALL_S, self._give_up)
        return piece

    def close(self) -> None:
        """Make no more; Django calls it at the end of each response, also when its reader has gone."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._timer is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._timer.cancel)
        self._executor.submit(self._end)
        self._executor.shutdown(wait=False)

    def _give_up(self) -> None:
        self._is_stalled = True
        self.close()

    def _step(self) -> bytes | None:
        if self._pieces is None:
            if self._reads_database:
                timeouts.begin_long_work()
            self._pieces = self._make()
        return next(self._pieces, None)

    def _end(self) -> None:
        try:
            close = getattr(self._pieces, "close", None)
            if close:
                close()
        finally:
            timeouts.end_long_work()
            connection.close()
            self._give_slot_back()
