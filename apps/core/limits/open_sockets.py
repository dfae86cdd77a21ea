"""How many WebSockets may be open: of a person, a team, an address, and in all; beyond, a page asks now and then.

One with an invented session takes no place of those whose session is known, nor keeps them waiting: it is opened in
the turns of strangers' requests (`crowds`), one by one beside people, for each keeps the loop busy for milliseconds.
"""

from collections import Counter
from contextlib import ExitStack, suppress
from typing import Any

from django.conf import settings

from apps.core.limits import crowds
from apps.core.limits.askers import address_in, session_key_in
from apps.core.limits.fair_places import Owners

# The code with which one too many is closed (429 Too Many Requests), as static/js/campaign.js reads it.
TOO_MANY = 4429
_KNOWN, _STRANGERS = "known", "strangers"


class Sockets:
    """Counts what is open, under as many names as each socket has."""

    def __init__(self, most: int, *, of_address: int, of_person: int) -> None:
        self._most, self._of_address, self._of_person = most, of_address, of_person
        self._of_team = max(1, most * 3 // 4)
        self._open: Counter[str] = Counter()

    @property
    def size(self) -> int:
        """Return how many are open."""
        return self._open[_KNOWN] + self._open[_STRANGERS]

    def greet(self, address: str, *, is_known: bool = False) -> "Held | None":
        """Return what a socket from an address holds until it ends, None if there are as many as may be."""
        held = Held(self)
        if held.take(_KNOWN if is_known else _STRANGERS, self._most) and (
            not address or held.take(f"at {address}", self._of_address)
        ):
            return held
        held.give_back()
        return None

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

    def give_back(self, names: list[str]) -> None:
        """Count one less under each name."""
        self._open.subtract(names)
        self._open = +self._open


class Held:
    """What one socket counts as until it ends."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
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
            self._sockets.give_back([name])
        return is_taken

    def belong_to(self, owners: Owners) -> bool:
        """Count it as a person's and their teams'; False if there are as many as may be."""
        return self._sockets.take_of_person(self, owners)

    def give_back(self) -> None:
        """Count it no more."""
        self._sockets.give_back(self._names)
        self._names = []


of_process = Sockets(
    settings.WEB_SOCKETS,
    of_address=settings.WEB_SOCKETS_PER_ADDRESS,
    of_person=settings.WEB_SOCKETS_PER_PERSON,
)


class BoundedSockets:
    """Hands WebSockets on of which there are not too many, with their session's key, what they hold and their turn.

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
        address, held = address_in(str((scope.get("client") or ("",))[0])), None
        is_known = crowds.of_process.knows(b"", cookies)
        # Who is known waits for nobody.
        turn = crowds.Turn(None) if is_known else crowds.of_process.turn_of(address, scope["path"], b"", cookies)
        with ExitStack() as ends:
            ends.callback(turn.give_back)
            with suppress(crowds.CrowdedError):
                await turn.take()
                held = of_process.greet(address, is_known=is_known)
            if held is None:
                await receive()
                # A code reaches a page only over a socket that is open.
                await send({"type": "websocket.accept"})
                await send({"type": "websocket.close", "code": TOO_MANY})
                return
            ends.callback(held.give_back)
            await self._inner({**scope, "session_key": key, "held": held, "turn": turn}, receive, send)
