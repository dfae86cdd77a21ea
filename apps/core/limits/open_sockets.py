"""How many WebSockets may be open: of a person, a team, an address, and in all; beyond, a page asks now and then.

One with an invented session takes no place of those whose session is known, nor keeps them waiting.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from django.conf import settings

from apps.core.limits import crowds
from apps.core.limits.askers import address_in, session_key_in
from apps.core.limits.fair_places import Owners

# The code with which one too many is closed (429 Too Many Requests), as static/js/campaign.js reads it.
TOO_MANY = 4429
# Of one address so many are looked up at once, for nobody is known before: the others' wait for no crowd of it.
GREETINGS = 4
# So many are looked up, or wait for it, of all whose session is not known yet: a thousand that were invented would
# keep the loop busy for seconds. One too many comes again, and is known by then if its page was read.
STRANGERS = 64
_KNOWN, _STRANGERS = "known", "strangers"


class Sockets:
    """Counts what is open, under as many names as each socket has."""

    def __init__(self, most: int, *, of_address: int, of_person: int) -> None:
        self._most, self._of_address, self._of_person = most, of_address, of_person
        self._of_team = max(1, most * 3 // 4)
        self._open: Counter[str] = Counter()
        self._greetings: dict[str, asyncio.Semaphore] = {}

    @property
    def size(self) -> int:
        """Return how many are open."""
        return self._open[_KNOWN] + self._open[_STRANGERS]

    def greet(self, address: str, *, is_known: bool = False) -> "Held | None":
        """Return what a socket from an address holds until it ends, None if there are as many as may be."""
        held = Held(self, address, waits=bool(address) and not is_known)
        kind, most = (_KNOWN, self._most) if is_known else (_STRANGERS, min(self._most, STRANGERS))
        if held.take(kind, most) and (not address or held.take(f"at {address}", self._of_address)):
            return held
        held.give_back()
        return None

    def turn_of(self, address: str) -> asyncio.Semaphore:
        """Return what greetings of an address wait for."""
        return self._greetings.setdefault(address, asyncio.Semaphore(GREETINGS))

    def take(self, name: str, most: int) -> bool:
        """Count one more under a name, unless there are `most`."""
        if self._open[name] >= most:
            return False
        self._open[name] += 1
        return True

    def take_of_person(self, held: "Held", owners: Owners) -> bool:
        """Count a socket as a person's and their teams', and as a known one, unless there are as many as may be."""
        is_taken = held.move(_STRANGERS, _KNOWN, self._most) and held.take(owners.person, self._of_person)
        return is_taken and all(held.take(team, self._of_team) for team in owners.teams)

    def give_back(self, names: list[str], address: str) -> None:
        """Count one less under each name."""
        self._open.subtract(names)
        self._open = +self._open
        if not self._open[f"at {address}"]:
            self._greetings.pop(address, None)


class Held:
    """What one socket counts as until it ends."""

    def __init__(self, sockets: Sockets, address: str, *, waits: bool) -> None:
        self._sockets, self._address, self._waits = sockets, address, waits
        self._names: list[str] = []

    def take(self, name: str, most: int) -> bool:
        """Count it under one more name, unless there are `most`."""
        is_taken = self._sockets.take(name, most)
        if is_taken:
            self._names.append(name)
        return is_taken

    def move(self, name: str, other: str, most: int) -> bool:
        """Count it under another name instead of one that it may have, unless there are `most`."""
        if name not in self._names:
            return True
        is_taken = self.take(other, most)
        if is_taken:
            self._names.remove(name)
            self._sockets.give_back([name], self._address)
        return is_taken

    def belong_to(self, owners: Owners) -> bool:
        """Count it as a person's and their teams'; False if there are as many as may be."""
        return self._sockets.take_of_person(self, owners)

    @asynccontextmanager
    async def greeting(self) -> AsyncIterator[None]:
        """Wait until few of the address are being looked up; nobody waits who is known, or whose address is not."""
        if not self._waits:
            yield
            return
        async with self._sockets.turn_of(self._address):
            yield

    def give_back(self) -> None:
        """Count it no more."""
        self._sockets.give_back(self._names, self._address)
        self._names = []


of_process = Sockets(
    settings.WEB_SOCKETS,
    of_address=settings.WEB_SOCKETS_PER_ADDRESS,
    of_person=settings.WEB_SOCKETS_PER_PERSON,
)


class BoundedSockets:
    """Hands WebSockets on of which there are not too many, with their session's key and what they hold.

    One without a session is refused (403) before anybody is looked up.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one WebSocket."""
        cookies = dict(scope["headers"]).get(b"cookie", b"")
        key = session_key_in(cookies)
        if not key:
            await send({"type": "websocket.close"})
            return
        address = address_in(str((scope.get("client") or ("",))[0]))
        held = of_process.greet(address, is_known=crowds.of_process.knows(b"", cookies))
        if held is None:
            await receive()
            # A code reaches a page only over a socket that is open.
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": TOO_MANY})
            return
        try:
            await self._inner({**scope, "session_key": key, "held": held}, receive, send)
        finally:
            held.give_back()
