"""Places in a process for what takes seconds of a processor: whoever waits is let in by what they had lately.

Of one person one thing is under way at a time, and of one team, with all its people, not in all places. Among those
who wait the next is who had least of the time lately, of a person and their teams the one who had most counting:
anybody may make many teams. Of two who had as much it is who came first.
"""

import itertools
import math
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from apps.bench.text import Message, _
from apps.core.connections import give_back
from apps.core.limits.policies import LimitExceededError

RETRY_AFTER_S = 5
# What somebody had counts half after so long (s), and nothing once it is less than this (s).
_HALVES_AFTER_S = 600.0
_LEAST_S = 0.01
_OWN = _("As many of your requests are under way as one may have at once. Try again in %(seconds)s s.")
_OTHERS = _("Others ask for the same at this moment. Try again in %(seconds)s s.")


@dataclass(frozen=True)
class Owners:
    """Who asks: a person, or an address of nobody who is known, and the teams that they are of.

    Without a name nobody is meant: a worker, which has its own turns.
    """

    person: str
    teams: Sequence[str] = ()

    @property
    def names(self) -> Sequence[str]:
        """Return all names under which time is counted."""
        return (self.person, *self.teams) if self.person else self.teams


@dataclass
class _Spent:
    seconds: float
    at: float

    def lately_s(self, now: float) -> float:
        return self.seconds * 0.5 ** ((now - self.at) / _HALVES_AFTER_S)


class PlacesTakenError(LimitExceededError):
    """No place came free in time; `is_own` if the asker's own work, or their team's, holds what they may have."""

    def __init__(self, *, is_own: bool) -> None:
        super().__init__(Message(_OWN if is_own else _OTHERS), RETRY_AFTER_S)
        self.is_own = is_own


class FairPlaces:
    """So many places, for each of which a request waits `wait_s` at most."""

    def __init__(self, number: int, *, wait_s: float) -> None:
        self._number, self._wait_s = number, wait_s
        self._under_way: Counter[str] = Counter()
        self._taken = 0
        self._waiting: dict[int, Owners] = {}
        self._spent: dict[str, _Spent] = {}
        self._numbers = itertools.count()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, owners: Owners) -> Iterator[None]:
        """Hold a place; PlacesTakenError (429) if none is free in time."""
        self._enter(owners)
        begun = time.monotonic()
        try:
            yield
        finally:
            self._leave(owners, time.monotonic() - begun)

    def _enter(self, owners: Owners) -> None:
        ticket = next(self._numbers)
        if self._take(ticket, owners, until=0.0):
            return
        # Who waits keeps no connection from others.
        give_back()
        if not self._take(ticket, owners, until=time.monotonic() + self._wait_s):
            raise PlacesTakenError(is_own=not self._may_have(owners))

    def _take(self, ticket: int, owners: Owners, *, until: float) -> bool:
        """Take a place; False if none was the asker's until a time of the monotonic clock."""
        with self._changed:
            self._waiting[ticket] = owners
            try:
                while self._next() != ticket:
                    left_s = until - time.monotonic()
                    if left_s <= 0:
                        return False
                    self._changed.wait(left_s)
                self._taken += 1
                self._under_way.update(owners.names)
            finally:
                del self._waiting[ticket]
                self._changed.notify_all()
            return True

    def _leave(self, owners: Owners, seconds: float) -> None:
        with self._changed:
            now = time.monotonic()
            self._taken -= 1
            self._under_way.subtract(owners.names)
            self._under_way = +self._under_way
            self._spent = {name: spent for name, spent in self._spent.items() if spent.lately_s(now) > _LEAST_S}
            for name in owners.names:
                spent = self._spent.get(name)
                self._spent[name] = _Spent(seconds + (spent.lately_s(now) if spent else 0.0), now)
            self._changed.notify_all()

    def _next(self) -> int | None:
        """Return who of those that wait is let in now, None if nobody is."""
        if self._taken >= self._number:
            return None
        now = time.monotonic()
        ready = [ticket for ticket, owners in self._waiting.items() if self._may_have(owners)]
        return min(ready, key=lambda ticket: (self._had(self._waiting[ticket], now), ticket), default=None)

    def _may_have(self, owners: Owners) -> bool:
        of_team = max(1, self._number - 1)
        is_under_way = owners.person and self._under_way[owners.person]
        return not is_under_way and all(self._under_way[team] < of_team for team in owners.teams)

    def _had(self, owners: Owners, now: float) -> float:
        spent = (self._spent[name].lately_s(now) for name in owners.names if name in self._spent)
        # Fractions of a second are no difference: who came first is.
        return math.floor(max(spent, default=0.0))
