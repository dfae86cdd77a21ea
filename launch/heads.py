"""uvicorn's protocol, with a time for the head of a request: one that does not come holds no connection for ever."""

from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# A connection is closed if no whole head has come so long (s) after it was opened, or after the answer before.
HEAD_S = 20.0


class HeadsInTime(HttpToolsProtocol):
    """Closes a connection whose next request's head is not there in time, however slowly it comes.

    So is one whose last request's body comes on and on after its answer.
    """

    head_s = HEAD_S

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for a head."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        self._forget_head()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """Begin a request, or what becomes a WebSocket."""
        self._forget_head()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next head."""
        super().on_response_complete()
        self._await_head()

    def _await_head(self) -> None:
        self._forget_head()
        self._head_timer = self.loop.call_later(self.head_s, self._close_without_request)

    def _forget_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close_without_request(self) -> None:
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and not self.transport.is_closing():
            self.transport.close()
