"""uvicorn's protocol, with a time for what comes and what goes: nobody holds a connection for ever, or all.

The head of a request comes in time, an answer is taken in time, and an address has so many connections at once.
"""

from asyncio import TimerHandle
from collections import deque
from typing import Any, ClassVar

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from launch.places import Places, of_process
from launch.readers import Reader
from launch.sizes import BoundedHeads

# A connection is closed if no whole head has come so long (s) after it was opened, or after the answer before.
HEAD_S = 20.0
_CROWDED = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class HeadsInTime(BoundedHeads):
    """Closes a connection whose next request's head is not there in time, however slowly it comes.

    So is one whose last request's body comes on and on after its answer, and one whose answers nobody takes.
    """

    head_s = HEAD_S
    # Those of all connections of the process; made with the first one.
    places: ClassVar[Places | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: TimerHandle | None = None
        self._reader: Reader | None = None
        self._address = ""
        # Requests that are not answered yet, in their order.
        self._cycles: deque[RequestResponseCycle] = deque()

    def connection_made(self, transport: Any) -> None:
        """Wait for a head, if there is a place for the connection."""
        super().connection_made(transport)
        self._reader = Reader(self.loop, transport, transport.abort)
        self._address = self.client[0] if self.client else ""
        if not self._places().take(self, self._address, transport.abort):
            transport.write(_CROWDED)
            transport.close()
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing, and have no answer sent on, whichever of those that were asked ahead is under way.

        The protocol tells the last one alone: each of the others would fail, and be logged with a traceback.
        """
        self._end()
        self._give_up_answers()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """Begin a request, or what becomes a WebSocket."""
        self._forget_head()
        if self._reader is not None and not self.transport.get_write_buffer_size():
            self._reader.begin_answer()
        super().on_headers_complete()
        # One that became a WebSocket has none, and the last one is still there.
        if self.cycle is not None and (not self._cycles or self._cycles[-1] is not self.cycle):
            self._cycles.append(self.cycle)

    def on_response_complete(self) -> None:
        """Wait for the next head, and for the answer to be taken."""
        if self._cycles:
            self._cycles.popleft()
        super().on_response_complete()
        self._look()
        self._await_head()

    def pause_writing(self) -> None:
        """Wait for whoever reads."""
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        """Go on with the answer."""
        self._look()
        super().resume_writing()

    def handle_websocket_upgrade(self) -> None:
        """Leave the connection to the protocol of WebSockets, until which it has its place.

        It is closed if answers to earlier requests are still to come: they had nobody to send them any more. One that
        announces a body is no request for it; some proxies say of each that it has none.
        """
        if any(_is_of_body(name, value) for name, value in self.headers):
            self.send_400_response("A request for a WebSocket has no body.")
            return
        if self._cycles:
            self._give_up_answers()
            self.transport.close()
            return
        if self._reader is not None:
            self._reader.forget()
        super().handle_websocket_upgrade()
        protocol: Any = self.transport.get_protocol()
        if protocol is self:
            return
        lost = protocol.connection_lost

        def connection_lost(exc: Exception | None) -> None:
            self._end()
            lost(exc)

        protocol.connection_lost = connection_lost

    @classmethod
    def _places(cls) -> Places:
        if cls.places is None:
            cls.places = of_process(settings.CONNECTIONS_PER_ADDRESS, settings.PROXIES)
        return cls.places

    def _end(self) -> None:
        self._forget_head()
        if self._reader is not None:
            self._reader.forget()
        self._places().give_back(self, self._address)

    def _give_up_answers(self) -> None:
        self.pipeline.clear()
        for cycle in self._cycles:
            cycle.disconnected = True
            cycle.message_event.set()

    def _look(self) -> None:
        if self._reader is not None:
            self._reader.look()

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


def _is_of_body(name: bytes, value: bytes) -> bool:
    return name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
