"""What one address sends that nobody is known to have sent: a web process has a few of it in hand, the rest waits.

Whoever begins to wait for something else, for a place or for others' passwords to be compared, lets the next in.
Whatever the process has begun with takes steps of its one loop, and between two steps of anybody's there is one of
each of the others: a crowd of hundreds would make everybody wait for seconds. Who is signed in, or has a token, has
places of their own (`at_once`) and waits here for nobody.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from weakref import WeakValueDictionary

from django.http import HttpRequest

from apps.core.limits import at_once
from apps.core.limits.askers import HEALTH, session_key_in

# For so long (s) a request waits for the others of its address: what these do may take long.
WAIT_S = 5.0
# Senders that showed who they are are remembered by a sum of what they sent for it, the latest of them.
_MOST_REMEMBERED = 10_000
_SHOWN_IN = ("HTTP_AUTHORIZATION", "HTTP_COOKIE")
Head = Mapping[bytes, bytes]


class Turn:
    """One request's place among those that are in hand; it may be taken and given back more than once."""

    def __init__(self, turns: asyncio.Semaphore | None) -> None:
        self._turns = turns
        self._is_taken = False

    async def take(self) -> None:
        """Wait until less of the address is in hand, or for WAIT_S."""
        turns = self._turns
        if turns is None or self._is_taken:
            return
        try:
            await asyncio.wait_for(turns.acquire(), WAIT_S)
        except TimeoutError:
            self._turns = None
        else:
            self._is_taken = True

    def give_back(self) -> None:
        """Let the next in, if this one is in hand; it does not come back."""
        if self._turns is not None and self._is_taken:
            self._turns.release()
            self._turns = None


class Crowds:
    """Counts the requests of each address that are in hand, but for those of senders who are known."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._known: OrderedDict[int | None, None] = OrderedDict()

    def turn_of(self, address: str, path: str, head: Head) -> Turn:
        """Return the turn of a request from an address.

        Known senders never wait, nor who has no address, nor who asks how the service is.
        """
        proof = _proof(head.get(b"authorization", b""), head.get(b"cookie", b""))
        if not address or path.startswith(HEALTH) or proof in self._known:
            return Turn(None)
        turns = self._turns.get(address)
        if turns is None:
            turns = self._turns[address] = asyncio.Semaphore(self._most)
        return Turn(turns)

    def note(self, request: HttpRequest, asker: at_once.Asker) -> None:
        """Remember the sender of a request that showed who it is, and forget one that does not any more."""
        proof = _proof(*(request.META.get(name, "").encode("latin-1", "replace") for name in _SHOWN_IN))
        if proof is None or not asker.is_known:
            self._known.pop(proof, None)
            return
        self._known[proof] = None
        self._known.move_to_end(proof)
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)


def _proof(authorization: bytes, cookies: bytes) -> int | None:
    """Return a sum of all that the head of a request shows of its sender, None if it shows nothing."""
    session = session_key_in(cookies)
    return hash((authorization, session)) if authorization or session else None


# Fewer than one address may have under way: who waits there has a thread, and waits here without one.
of_process = Crowds(max(1, at_once.of_process.most_of_address - 1))
