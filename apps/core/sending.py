"""Send what is made piece by piece: under ASGI from a thread of its own, with a database connection of its own."""

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.request import Request

Pieces = Iterator[bytes]


def send(
    request: HttpRequest | Request, make: Callable[[], Pieces], *, name: str, kind: str
) -> StreamingHttpResponse:
    """Return the response that sends the pieces that `make` gives as a file of a name."""
    plain = getattr(request, "_request", request)
    # Under ASGI Django would first gather what a plain iterator gives.
    pieces: Any = _Threaded(make) if isinstance(plain, ASGIRequest) else make()
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(pieces, content_type=kind, headers=headers)


class _Threaded:
    """Pieces that are made in one thread, for a database connection belongs to one."""

    def __init__(self, make: Callable[[], Pieces]) -> None:
        self._make = make
        self._pieces: Pieces | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")
        self._context = contextvars.copy_context()
        self._is_closed = False

    def __aiter__(self) -> "_Threaded":
        return self

    async def __anext__(self) -> bytes:
        """Return the next piece."""
        piece = await asyncio.get_running_loop().run_in_executor(self._executor, self._context.run, self._step)
        if piece is None:
            self.close()
            raise StopAsyncIteration
        return piece

    def close(self) -> None:
        """Make no more; Django calls it at the end of each response, also when its reader has gone."""
        if not self._is_closed:
            self._is_closed = True
            self._executor.submit(self._end)
            self._executor.shutdown(wait=False)

    def _step(self) -> bytes | None:
        if self._pieces is None:
            self._pieces = self._make()
        return next(self._pieces, None)

    def _end(self) -> None:
        try:
            close = getattr(self._pieces, "close", None)
            if close:
                close()
        finally:
            connection.close()
