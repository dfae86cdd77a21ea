"""How much a request may bring, by the kind of its address and by who sends it, and how it is read: one definition.

Pages, REST and agents' addresses read what is sent by `pieces`: it ends at the limit while the body still comes, and
when nothing comes any more, or too little for its kind.
"""

import asyncio
import contextlib
import enum
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import Resolver404, resolve

KIB = 1024
# So long (s) nothing of a body may come, before whoever sends it is told that it did not.
IDLE_S = 30.0
# A whole body has the setting's time (s), and that once more for each so many bytes that came of it.
PER_BYTES = 64 * 1024 * KIB
# Who is refused before its body's end reads the answer only when it comes to read: so long (s), and so much of the
# rest (bytes), is taken and dropped meanwhile.
LINGER_S = 2.0
LINGER_BYTES = 64 * 1024 * KIB
_WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")


class BodyKind(enum.Enum):
    """What a request brings at most."""

    NOTHING = "an address or a method that takes no body"
    ANONYMOUS = "a form or document of somebody who is not signed in"
    FORM = "a form or document"
    FILES = "files"
    GREETING = "an agent's enrolment, beginning or end"
    NEWS = "an agent's facts"
    QUESTION = "an agent's question for work"
    REPORT = "an agent's report on a job"


def most_bytes(kind: BodyKind) -> int:
    """Return the limit of a kind (bytes)."""
    most: dict[BodyKind, int] = {
        # A few programs send "{}" or blanks wherever they ask.
        BodyKind.NOTHING: 8 * KIB,
        BodyKind.ANONYMOUS: 64 * KIB,
        BodyKind.FORM: settings.FORM_MOST_BYTES,
        BodyKind.FILES: settings.UPLOAD_MOST_BYTES or sys.maxsize,
        BodyKind.GREETING: 16 * KIB,
        BodyKind.NEWS: 1024 * KIB,
        # All that an agent may hold, stop and run, and what is wrong on its node.
        BodyKind.QUESTION: 192 * KIB,
        BodyKind.REPORT: settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    }
    return most[kind]


def kind_of(method: str, path: str, *, is_known: bool) -> BodyKind:
    """Return the kind of a request for a page or REST; `is_known`: somebody is signed in, as far as can be told."""
    if method not in _WITH_BODY or path in settings.BODILESS_ADDRESSES:
        return BodyKind.NOTHING
    try:
        resolve(path)
    except Resolver404:
        return BodyKind.NOTHING
    if not is_known:
        return BodyKind.ANONYMOUS
    return BodyKind.FILES if path in settings.FILE_ADDRESSES else BodyKind.FORM


@dataclass(frozen=True)
class BodyPace:
    """In each time of `within_s` at least so many bytes come, or the rest: slower is only a connection held open."""

    within_s: float
    least: int


# Of whoever may not be known all comes within a third of a minute: an address can hold few of them.
_OF_ANYBODY, _OF_KNOWN = BodyPace(20.0, 64 * KIB), BodyPace(60.0, 256 * KIB)
PACES = {
    BodyKind.NOTHING: _OF_ANYBODY,
    BodyKind.ANONYMOUS: _OF_ANYBODY,
    BodyKind.FORM: _OF_KNOWN,
    BodyKind.FILES: _OF_KNOWN,
    BodyKind.GREETING: _OF_ANYBODY,
    BodyKind.NEWS: _OF_KNOWN,
    BodyKind.QUESTION: _OF_KNOWN,
    BodyKind.REPORT: _OF_KNOWN,
}


class RefusedBody(Exception):
    """A body that is not taken to its end."""

    status = 400


class TooLarge(RefusedBody):
    """More than `most` bytes came, or were announced."""

    status = 413

    def __init__(self, most: int) -> None:
        super().__init__(f"The request is larger than {most} bytes.")
        self.most = most


class BodyStalled(RefusedBody):
    """Nothing of the body came for `IDLE_S`, or less than its pace asks for, or it took too long in all."""

    status = 408


class Unanswerable(RefusedBody):
    """Whether its sender may send so much cannot be told: the database is away, or too busy."""

    status = 503


class HungUp(Exception):
    """Whoever sends it is gone."""


class Allowance:
    """What is taken: a `first` kind of anybody, and the kind that `ask` answers, once, of whoever sends more."""

    def __init__(self, first: BodyKind, ask: Callable[[], Awaitable[BodyKind]] | None = None) -> None:
        self._kind = first
        self._ask = ask

    @property
    def pace(self) -> BodyPace:
        """Return how fast it comes at least."""
        return PACES[self._kind]

    async def check(self, size: int) -> None:
        """Raise TooLarge if a body of `size` bytes, or the first so many of one, are more than is taken."""
        if size > most_bytes(self._kind) and self._ask is not None:
            ask, self._ask = self._ask, None
            self._kind = await ask()
        if size > most_bytes(self._kind):
            raise TooLarge(most_bytes(self._kind))


def announced_bytes(headers: Mapping[bytes, bytes]) -> int:
    """Return the length that a request's head gives, 0 if it gives none."""
    length = headers.get(b"content-length", b"")
    return int(length[:20]) if length.isdigit() else 0


async def pieces(receive: Callable[[], Awaitable[Any]], announced: int, allowance: Allowance) -> AsyncIterator[bytes]:
    """Yield what comes of a body; TooLarge, BodyStalled or HungUp end it."""
    await allowance.check(announced)
    size, is_whole = 0, False
    time_limit = _TimeLimit(allowance)
    while not is_whole:
        message = await time_limit.keep(receive(), size)
        if message["type"] == "http.disconnect":
            raise HungUp
        piece = message.get("body", b"")
        size += len(piece)
        await allowance.check(size)
        is_whole = not message.get("more_body", False)
        yield piece


class _TimeLimit:
    """How long a body may still take to come on: of its pace, of its next piece, and of all of it."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._begun = self._since = time.monotonic()
        self._before = 0

    async def keep(self, coming: Awaitable[Any], size: int) -> Any:
        """Return what comes after so many bytes; BodyStalled if it does not in time."""
        pace, now = self._allowance.pace, time.monotonic()
        if size - self._before >= pace.least:
            self._since, self._before = now, size
        most_s = settings.BODY_MOST_S * (1 + size // PER_BYTES)
        left_s, why = min(
            (IDLE_S, f"Nothing of the request's body came for {IDLE_S:g} s."),
            (
                self._since + pace.within_s - now,
                f"Less than {pace.least} bytes of the request's body came in {pace.within_s:g} s.",
            ),
            (self._begun + most_s - now, f"The request's body did not come within {most_s:g} s (BODY_MOST_S)."),
        )
        try:
            async with asyncio.timeout(left_s):
                return await coming
        except TimeoutError:
            raise BodyStalled(why) from None


class Closing:
    """Sends an answer to a request whose body was not read: in full at once, then the connection is closed.

    Closed with unread bytes before it, a connection is reset, and whoever still sends never reads the answer.
    """

    def __init__(self, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        self._receive, self._send = receive, send

    async def __call__(self, message: Mapping[str, Any]) -> None:
        """Send a message."""
        if message["type"] == "http.response.start":
            await self._send({**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]})
        elif message.get("more_body", False):
            await self._send(message)
        else:
            await self._send({**message, "more_body": True})
            await self._drop_the_rest()
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _drop_the_rest(self) -> None:
        left = LINGER_BYTES
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_S):
                while left > 0:
                    message = await self._receive()
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        return
                    left -= len(message.get("body", b""))
