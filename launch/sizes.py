"""uvicorn's protocol, with a bound to what comes before it can be asked what it is worth."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Addresses, names and values of a head together; and what may come in a row that is neither a body nor a whole head.
MOST_BYTES = 64 * 1024
MOST_HEADERS = 128
# Requests on one connection that wait for the answer to an earlier one.
MOST_AHEAD = 32
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class TooMuchError(Exception):
    """What comes is not read on; the parser ends at it."""


class BoundedHeads(HttpToolsProtocol):
    """Refuses a head that is too large, and cuts off who asks for more and more without awaiting the answers.

    A header of four bytes costs twenty times as much in memory, and all of one reading is parsed in one step.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Since the last head or piece of a body; bytes and headers of the head that comes.
        self._in_a_row = 0
        self._head_bytes = 0
        self._headers = 0
        self._is_head_over = False
        self._is_too_large = False

    def data_received(self, data: bytes) -> None:
        """Read on, unless too much came that is nothing yet."""
        self._in_a_row += len(data)
        super().data_received(data)
        if self._in_a_row > MOST_BYTES and not self.transport.is_closing():
            self._is_too_large = True
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._head_bytes = self._headers = 0
        self._is_head_over = False
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a piece of the address."""
        self._measure(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; one that follows a body is none of the request's: a proxy in between did not look at it."""
        self._headers += 1
        self._measure(len(name) + len(value))
        if not self._is_head_over:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin a request, or have it wait for those before it."""
        self._in_a_row = 0
        self._is_head_over = True
        if len(self.pipeline) >= MOST_AHEAD:
            raise TooMuchError
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._in_a_row = 0
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """Refuse what came; end at once where it would come in the middle of another request's answer."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()
        elif self._is_too_large:
            self.transport.write(_TOO_LARGE)
            self.transport.close()
        else:
            super().send_400_response(msg)

    def _measure(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MOST_BYTES or self._headers > MOST_HEADERS:
            self._is_too_large = True
            raise TooMuchError
