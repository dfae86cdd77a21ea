"""The memory that agents' reports may take while they come and are read: some of each agent, some in all."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

MIB = 1024 * 1024
# An agent sends reports over two connections, one for what is large; in all it is what a web process can spare.
REPORTS_OF_AGENT, REPORTS_OF_ALL = 2 * 64 * MIB, 8 * 64 * MIB
# Facts and questions for work are a MiB at most, and must not wait for reports.
NEWS_OF_AGENT, NEWS_OF_ALL = 4 * MIB, 256 * MIB
# Each request counts as so much at least: what is small is held open as easily.
LEAST = MIB // 16
# A body that has come for so long (s) gives way to others where there is no room.
GRACE_S = 5.0


class Problem(Exception):
    """An answer other than 2xx: HTTP's status, a word for programs, a text for people."""

    def __init__(self, status: int, code: str, detail: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s


class GaveWay(Exception):
    """A request ended because others need the room that it took for longer than they will."""


@dataclass(eq=False)
class Share:
    """What one request takes of the room while its body comes and is read."""

    room: "Room"
    agent: int
    team: int
    size: int = 0
    begun: float = field(default_factory=time.monotonic)
    # Whose work it is while the body comes; None before and after, when nobody can take it away.
    coming: "asyncio.Task[Any] | None" = None
    has_given_way: bool = False

    def grow(self, size: int) -> None:
        """Take so many bytes in all; Problem 503, which an agent answers by coming again, if there is no room."""
        if size > self.size:
            self.room.take(self, size - self.size)

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
        self.room.release(self)
        if self.coming is not None:
            self.coming.cancel()
            self.coming = None

    def pace(self, now: float) -> float:
        """Return how fast it comes, in bytes/s."""
        return self.size / max(now - self.begun, GRACE_S)


class Room:
    """What all requests take: a share of each agent, half of it of each team, and of what came so far.

    Where it is full, the slowest body that has come for GRACE_S gives way: a connection that is held open costs its
    sender nothing, and must not keep out what others measured.
    """

    def __init__(self, most_of_agent: int, most_of_all: int) -> None:
        self._most_of_agent, self._most_of_all = most_of_agent, most_of_all
        self._shares: set[Share] = set()
        self._of_agent, self._of_team, self._of_all = Counter[int](), Counter[int](), 0

    @contextmanager
    def share_of(self, agent: int, team: int) -> Iterator[Share]:
        """Give a share to a request of an agent of a team, until the block ends."""
        share = Share(self, agent, team)
        self._shares.add(share)
        try:
            share.grow(LEAST)
            yield share
        finally:
            self.release(share)
            self._shares.discard(share)

    def take(self, share: Share, size: int) -> None:
        """Take `size` bytes more for a share; Problem 503 if there is no room."""
        if self._of_agent[share.agent] + size > self._most_of_agent:
            raise _full("this agent")
        if self._of_team[share.team] + size > self._most_of_all // 2:
            raise _full("this team's agents")
        while self._of_all + size > self._most_of_all:
            self._slowest(share).give_way()
        self._count(share, size)

    def release(self, share: Share) -> None:
        """Take back all that a share has."""
        self._count(share, -share.size)
        for sizes, key in ((self._of_agent, share.agent), (self._of_team, share.team)):
            if not sizes[key]:
                del sizes[key]

    def _count(self, share: Share, size: int) -> None:
        share.size += size
        self._of_agent[share.agent] += size
        self._of_team[share.team] += size
        self._of_all += size

    def _slowest(self, newcomer: Share) -> Share:
        """Return the share whose body comes most slowly; Problem 503 where none has come for long."""
        now = time.monotonic()
        late = [
            share for share in self._shares if share is not newcomer and share.coming and now - share.begun > GRACE_S
        ]
        if not late:
            raise _full("all agents")
        return min(late, key=lambda share: share.pace(now))


def _full(whose: str) -> Problem:
    return Problem(503, "unavailable", f"Too much is being sent by {whose} at once: send it again later.")
