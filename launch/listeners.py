"""uvicorn's protocol of WebSockets, for viewers who only listen: what they send is little, and is ignored."""

import time
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

# In so long (s) a viewer sends at most so many bytes: browsers answer a ping every 20 s, and close.
WINDOW_S = 60.0
MOST_BYTES = 4096


class ListenerProtocol(WebSocketsSansIOProtocol):
    """Cuts a connection off on which more comes than a viewer has to say, before and after it is accepted.

    Each frame waits in memory until the application takes it, and each ping makes an answer that need not be taken.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._has_request = False
        self._window_ends = 0.0
        self._bytes = 0

    def data_received(self, data: bytes) -> None:
        """Read frames; the first data are the request, whole and bounded: one that cannot be read is none."""
        if self._has_request and self._is_too_much(len(data)):
            self.transport.abort()
            return
        self._has_request = True
        super().data_received(data)
        if not self.handshake_initiated:
            self.transport.abort()

    def _is_too_much(self, size: int) -> bool:
        now = time.monotonic()
        if now >= self._window_ends:
            self._window_ends, self._bytes = now + WINDOW_S, 0
        self._bytes += size
        return self._bytes > MOST_BYTES
