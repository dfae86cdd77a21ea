"""The room that requests take while they come and are read: some of each sender, some in all."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

MIB = 1024 * 1024
# Each request counts as so much at least: what is small is held open as easily.
LEAST = MIB // 16
# A body that has come for so long (s) gives way to others where there is no room.
GRACE_S = 5.0


class GaveWay(Exception):
    """A request ended because others need the room that it took for longer than they will."""


@dataclass(frozen=True)
class RoomClaim:
    """On whose account a request takes room, how many bytes all of that account may take, and its name for people.

    Where the account is `open` to many, its slowest gives way; else what comes last is refused.
    """

    key: Hashable
    most: int
    whose: str
    is_open: bool = False


@dataclass(eq=False)
class RoomShare:
    """What one request takes of the room while its body comes and is read."""

    room: "Room"
    claims: tuple[RoomClaim, ...]
    size: int = 0
    begun: float = field(default_factory=time.monotonic)
    # Whose work it is while the body comes; None before and after, when nobody can take it away.
    coming: "asyncio.Task[Any] | None" = None
    # It came to its end, and waits for its turn: it is not slow any more.
    is_whole: bool = False
    has_given_way: bool = False

    def grow(self, size: int) -> None:
        """Take so many bytes in all; the room's refusal if there is no room."""
        if size > self.size:
            self.room.take(self, size - self.size)

    def shrink(self, size: int) -> None:
        """Keep so many bytes at most."""
        if size < self.size:
            self.room.give_back(self, self.size - size)

    def claim(self, claims: Sequence[RoomClaim]) -> None:
        """Take what it has on other accounts; the room's refusal, with nothing taken, if they have no room."""
        size = self.size
        self.room.give_back(self, size)
        self.claims = tuple(claims)
        self.grow(size)

    @contextmanager
    def while_it_comes(self) -> Iterator[None]:
        """Let others end the block, with GaveWay, once it has come slowly for GRACE_S."""
        task = self.coming = asyncio.current_task()
        try:
            yield
        except asyncio.CancelledError:
            if not self.has_given_way or task is None or task.uncancel():
                raise
            raise GaveWay from None
        finally:
            self.coming = None

    def give_way(self) -> None:
        """End the request, and let go of what it took."""
        self.has_given_way = True
        self.room.give_back(self, self.size)
        if self.coming is not None:
            self.coming.cancel()
            self.coming = None

    def pace(self, now: float) -> float:
        """Return how fast it comes, in bytes/s."""
        return self.size / max(now - self.begun, GRACE_S)


class Room:
    """What all requests take: a share of each account, and of what came so far.

    Where it is full, the slowest body that has come for GRACE_S gives way: a connection that is held open costs its
    sender nothing, and must not keep out what others send. Where none is slow, the largest of the account that has
    most gives way to one that has less: a few could fill it, and send on and on. `full` makes the refusal, of
    the name of the account.
    """

    def __init__(self, most: int, everybody: str, full: Callable[[str], Exception]) -> None:
        self._all = RoomClaim(None, most, everybody, is_open=True)
        self._full = full
        self._shares: set[RoomShare] = set()
        self._taken = Counter[Hashable]()

    @property
    def size(self) -> int:
        """Return how many bytes are taken."""
        return self._taken[None]

    @contextmanager
    def share_of(self, *claims: RoomClaim, least: int = LEAST) -> Iterator[RoomShare]:
        """Give a share to a request on these accounts, until the block ends."""
        share = RoomShare(self, claims)
        self._shares.add(share)
        try:
            share.grow(least)
            yield share
        finally:
            self.give_back(share, share.size)
            self._shares.discard(share)

    def take(self, share: RoomShare, size: int) -> None:
        """Take `size` bytes more for a share; the refusal if there is no room."""
        for claim in (*share.claims, self._all):
            while self._taken[claim.key] + size > claim.most:
                self._in_the_way(share, claim, size).give_way()
        self._count(share, size)

    def give_back(self, share: RoomShare, size: int) -> None:
        """Take back so many bytes of what a share has."""
        self._count(share, -size)

    def _count(self, share: RoomShare, size: int) -> None:
        share.size += size
        for claim in (*share.claims, self._all):
            self._taken[claim.key] += size
            if not self._taken[claim.key]:
                del self._taken[claim.key]

    def _in_the_way(self, newcomer: RoomShare, claim: RoomClaim, size: int) -> RoomShare:
        """Return the share that gives way to `size` bytes more of a newcomer; the refusal where none does."""
        now = time.monotonic()
        coming = [
            share
            for share in self._shares
            if share is not newcomer
            and share.coming
            and share.size
            and (claim is self._all or any(other.key == claim.key for other in share.claims))
        ]
        late = [share for share in coming if now - share.begun > GRACE_S and not share.is_whole]
        if claim.is_open and late:
            return min(late, key=lambda share: share.pace(now))
        least = self._had(newcomer) + size
        greedy = [share for share in coming if self._had(share) - share.size >= least]
        if claim is not self._all or not greedy:
            raise self._full(claim.whose)
        return max(greedy, key=lambda share: (self._had(share), share.size))

    def _had(self, share: RoomShare) -> int:
        """Return how many bytes the largest of a request's accounts has."""
        return max((self._taken[claim.key] for claim in share.claims), default=0)
