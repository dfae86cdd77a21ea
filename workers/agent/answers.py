"""An answer of the server, or of what stands in its place: read so far only, and for so long."""

from __future__ import annotations

import http.client
import io
import json
import math
import socket
import time
from typing import Any

# What the answer to a poll may hold, which brings jobs with their files, and any other (bytes).
MOST_OF_POLL, MOST_OF_OTHERS = 16 * 1024 * 1024, 1024 * 1024
# Of one that is not the server's own so much is read, to tell who answered.
MOST_OF_STRANGERS = 16 * 1024
# Status, headers and what comes before them; whatever parts of a body in chunks are not the body.
MOST_BESIDE = 1024 * 1024
# What it may take from the request on, beyond what the first byte may (s).
MORE_S = 60.0
# An empty object takes some twenty times the memory of its three signs.
MOST_VALUES = 1_000_000
_LONGEST_INTEGER = 40
_PIECE = 64 * 1024


class TooMuch(OSError):
    """An answer longer than any of the server's."""


class Answer(http.client.HTTPResponse):
    """A response of which no more is taken from the line than its limits say, in bytes and in time."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self._meter = _Meter(sock, self.fp.detach())
        self.fp = io.BufferedReader(self._meter)

    def begin(self) -> None:
        """Read status and headers; IncompleteRead if the line ended before they did."""
        super().begin()
        # http.client takes what came for all; where headers end in their empty line, nothing is read behind it.
        if self._meter.is_at_end:
            raise http.client.IncompleteRead(b"")

    def take(self, most: int) -> bytes:
        """Return the body, TooMuch if it is longer than `most` bytes; http.client's errors if it breaks off."""
        if self.length is not None and self.length > most:
            raise TooMuch(f"an answer of {self.length} bytes")
        self._meter.left = most + MOST_BESIDE
        body = bytearray()
        while piece := self.read(min(_PIECE, most + 1 - len(body))):
            body += piece
            if len(body) > most:
                raise TooMuch(f"an answer of more than {most} bytes")
        if self.length:
            raise http.client.IncompleteRead(bytes(body[:100]), self.length)
        return bytes(body)

    def begins(self, most: int) -> bytes:
        """Return the beginning of a body, at most so many bytes; the connection is of no use then."""
        self._meter.left = most + MOST_BESIDE
        return self.read(most)


class _Meter(io.RawIOBase):
    """What comes over the line: so many bytes, and none after so long."""

    def __init__(self, sock: socket.socket, raw: Any) -> None:
        super().__init__()
        self._sock, self._raw = sock, raw
        self.left, self.is_at_end = MOST_BESIDE, False
        self._silence_s = sock.gettimeout()
        self._deadline = time.monotonic() + (self._silence_s or 0.0) + MORE_S

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what has come; TooMuch, or TimeoutError when the time is up."""
        if self.left <= 0:
            raise TooMuch("an answer without an end")
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("timed out: the answer takes too long")
        if self._silence_s is not None:
            self._sock.settimeout(min(self._silence_s, remaining))
        count: int | None = self._raw.readinto(memoryview(buffer)[: self.left])
        self.left -= count or 0
        self.is_at_end = count == 0
        return count

    def close(self) -> None:
        """Let the line go."""
        if not self.closed:
            self._raw.close()
        super().close()


def parse(text: bytes) -> Any:
    """Return what a JSON text says; ValueError for none, and for one that would take too much memory or time.

    What is no number as everybody has it (NaN, one of many digits) is not finite: that is for whoever uses it to see.
    """
    if sum(map(text.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ValueError(f"more than {MOST_VALUES} values")
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _integer(text: str) -> float:
    return int(text) if len(text) <= _LONGEST_INTEGER else math.inf
