"""Places in a process for what takes seconds: whoever waits is let in by what they had lately.

Of one person one thing is under way at a time, or as many as is said, and of one team, with all its people, not in
all places. Among those who wait the next is who had least of the time lately, of a person and their teams the one who
had most counting: anybody may make many teams. Where that is as much, as of two of one team, what the others of these
had counts, and then who came first.
"""

import itertools
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from apps.bench.text import Message, _
from apps.core.connections import give_back
from apps.core.limits.policies import LimitExceededError

RETRY_AFTER_S = 5
# Who waits looks again after so long (s) whether somebody's place may be ended.
_LOOK_S = 0.5
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
    """No place came free in time; `full` are those of the asker's names whose work holds what they may have."""

    def __init__(self, full: Sequence[str]) -> None:
        super().__init__(Message(_OWN if full else _OTHERS), RETRY_AFTER_S)
        self.full = full

    @property
    def is_own(self) -> bool:
        """Say whether the asker's own work, or their team's, is in the way."""
        return bool(self.full)


class FairPlaces:
    """So many places, for each of which a request waits `wait_s` at most.

    A person has `of_person` of them; who has as many, with those that they wait for, waits for no more if `is_brief`.
    """

    def __init__(self, number: int, *, wait_s: float, of_person: int = 1, is_brief: bool = False) -> None:
        self._number, self._wait_s, self._of_person, self._is_brief = number, wait_s, of_person, is_brief
        self._under_way: Counter[str] = Counter()
        self._taken = 0
        self._waiting: dict[int, Owners] = {}
        self._spent: dict[str, _Spent] = {}
        self._numbers = itertools.count()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, owners: Owners) -> Iterator[None]:
        """Hold a place; PlacesTakenError (429) if none is free in time."""
        leave = self.take(owners)
        try:
            yield
        finally:
            leave()

    def take(self, owners: Owners) -> Callable[[], None]:
        """Take a place, which is held until what is returned is called; PlacesTakenError (429) as with `turn`."""
        self._enter(owners)
        begun = time.monotonic()
        return lambda: self._leave(owners, time.monotonic() - begun)

    def left(self, person: str) -> int:
        """Return how many more a person may have."""
        return self._of_person - self._under_way[person]

    def _enter(self, owners: Owners) -> None:
        ticket = next(self._numbers)
        if self._take(ticket, owners, until=0.0):
            return
        if self._is_brief and not self._may_wait(owners.person):
            raise PlacesTakenError((owners.person,))
        # Who waits keeps no connection from others.
        give_back()
        if not self._take(ticket, owners, until=time.monotonic() + self._wait_s):
            raise PlacesTakenError(self._full(owners))

    def _may_wait(self, person: str) -> bool:
        with self._changed:
            return self.left(person) > sum(each.person == person for each in self._waiting.values())

    def _take(self, ticket: int, owners: Owners, *, until: float) -> bool:
        """Take a place; False if none was the asker's until a time of the monotonic clock."""
        with self._changed:
            self._waiting[ticket] = owners
            try:
                while self._next() != ticket:
                    left_s = until - time.monotonic()
                    if left_s <= 0:
                        return False
                    self._end_one_for(owners)
                    self._changed.wait(min(left_s, _LOOK_S))
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
        ready = [ticket for ticket, owners in self._waiting.items() if not self._full(owners)]
        return min(ready, key=lambda ticket: (self._had(self._waiting[ticket], now), ticket), default=None)

    def _end_one_for(self, _owners: Owners) -> None:
        """End what somebody holds who may lose it to one who waits: here nobody does."""

    def _full(self, owners: Owners) -> list[str]:
        """Return which of the names have as many as they may."""
        of_team = max(1, self._number - 1)
        most = {name: self._of_person if name == owners.person else of_team for name in owners.names}
        return [name for name in most if self._under_way[name] >= most[name]]

    def _had(self, owners: Owners, now: float) -> list[int]:
        """Return what each of the names had, the most first."""
        # Fractions of a second are no difference: who came first is.
        spent = (math.floor(self._spent[name].lately_s(now)) for name in owners.names if name in self._spent)
        return sorted(filter(None, spent), reverse=True)
