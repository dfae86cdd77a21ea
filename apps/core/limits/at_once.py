"""How much of a web process one asker may have: whatever is asked for, the others are answered meanwhile."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string

from apps.bench.text import Message, _
from apps.core.connections import give_back
from apps.core.limits.askers import address_of
from apps.core.limits.fair_turns import FIRST, Lately
from apps.core.limits.policies import LimitExceededError

# For so long (s) a request waits for its asker's earlier ones: as long as any waits for a connection.
WAIT_S = 5.0
RETRY_AFTER_S = 5
# All who are not signed in.
_ANYBODY = "anybody"


@dataclass(frozen=True)
class Asker:
    """Who asks: a person with all their tokens ("person 7"), or an address of nobody who is known; "" if neither."""

    name: str
    is_known: bool = True
    # The names of their teams; to look them up is a query.
    teams: Callable[[], Iterable[str]] = field(default=tuple, compare=False)


@dataclass(eq=False)
class _Waiter:
    """A request that waits for its turn: for each name under which it counts how much may be under way."""

    most: Mapping[str, int]
    has_turn: threading.Event = field(default_factory=threading.Event)


class Askers:
    """Counts what is under way for each asker; of one person at most so much at once, as of all whom nobody knows.

    Of these one address has `most_of_address`. Those who wait are let in by turns, one of each asker, whoever had few
    within `lately_s` (s) first, and nobody else wakes: to wake all of a crowd at each end would take more of the
    processor than what they ask for.
    """

    def __init__(self, most: int, *, most_of_address: int = 0, wait_s: float = WAIT_S, lately_s: float = 0.0) -> None:
        self.most = most
        self.most_of_address = most_of_address or most
        self._wait_s = wait_s
        self._lately = Lately(lately_s)
        self._under_way: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Waiter]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, asker: Asker) -> Iterator[None]:
        """Wait until less is under way for the asker; LimitExceededError (429) if that takes too long.

        Nobody waits whose asker has no name.
        """
        if not asker.name:
            yield
            return
        most = self._most_of(asker)
        if not (self._take(asker.name, most) or self._wait(asker.name, most)):
            text = _("As many of your requests are under way as one may have at once. Try again in %(seconds)s s.")
            if self._under_way[asker.name] < most[asker.name]:
                text = _("Many who are not signed in ask for something at this moment. Try again in %(seconds)s s.")
            raise LimitExceededError(Message(text), RETRY_AFTER_S)
        try:
            yield
        finally:
            self._give_back(most)

    def _most_of(self, asker: Asker) -> dict[str, int]:
        """Return for each name under which the asker counts how much may be under way."""
        return {asker.name: self.most} if asker.is_known else {asker.name: self.most_of_address, _ANYBODY: self.most}

    def _take(self, name: str, most: Mapping[str, int]) -> bool:
        with self._lock:
            is_free = name not in self._waiting and self._has_room(most)
            if is_free:
                self._count(most)
            return is_free

    def _wait(self, name: str, most: Mapping[str, int]) -> bool:
        # Who waits keeps no connection from those who need not.
        give_back()
        waiter = _Waiter(most)
        with self._lock:
            self._waiting.setdefault(name, deque()).append(waiter)
            self._let_in()
        if waiter.has_turn.wait(self._wait_s):
            return True
        with self._lock:
            is_late = not waiter.has_turn.is_set()
            if is_late:
                self._waiting[name].remove(waiter)
                if not self._waiting[name]:
                    del self._waiting[name]
            return not is_late

    def _has_room(self, most: Mapping[str, int]) -> bool:
        return all(self._under_way[name] < number for name, number in most.items())

    def _give_back(self, names: Iterable[str]) -> None:
        with self._lock:
            self._under_way.subtract(list(names))
            self._under_way = +self._under_way
            self._let_in()

    def _let_in(self) -> None:
        """Give a turn to the first who waits of each asker, as long as there is room; who had one is last."""
        while names := [name for name in self._in_order() if self._gives_turn(self._waiting[name][0])]:
            for name in names:
                waiters = self._waiting.pop(name)
                waiters.popleft()
                if waiters:
                    self._waiting[name] = waiters

    def _gives_turn(self, waiter: _Waiter) -> bool:
        if not self._has_room(waiter.most):
            return False
        self._count(waiter.most)
        waiter.has_turn.set()
        return True

    def _in_order(self) -> list[str]:
        return sorted(self._waiting, key=lambda name: min(self._lately.number(name), FIRST))

    def _count(self, most: Mapping[str, int]) -> None:
        self._under_way.update(most.keys())
        for name in most:
            self._lately.count(name)


# Of any person, and of all together who are not signed in, a third of the connections is left to others; a browser
# asks for six things at once.
of_process = Askers(max(1, settings.WEB_CONNECTIONS * 2 // 3), most_of_address=max(1, settings.WEB_CONNECTIONS // 2))
# Who wants to sign in is nobody yet, and finds a place whatever all others who are not signed in read meanwhile.
SIGN_IN = "/accounts/"
of_sign_in = Askers(
    max(2, settings.WEB_CONNECTIONS // 4), most_of_address=max(1, settings.WEB_CONNECTIONS // 6), lately_s=15 * 60
)
# Whoever signs in where they did so before waits for none of these: each has one place of their own.
of_return = Askers(1)
_RETURNS_AS = "returns_as"


def note_return(request: HttpRequest, name: str) -> None:
    """Note as whom somebody signs in who did so before from where they are."""
    setattr(request, _RETURNS_AS, name)


def places_for(request: HttpRequest) -> Askers:
    """Return among whose places a request has its turn."""
    if getattr(request, _RETURNS_AS, ""):
        return of_return
    is_sign_in = request.path.startswith(SIGN_IN) and not request.user.is_authenticated
    return of_sign_in if is_sign_in else of_process


def asker_of(request: HttpRequest) -> Asker:
    """Return who asks."""
    if request.user.is_authenticated:
        owners = import_string(settings.OWNERS_CHECK)
        return Asker(f"person {request.user.pk}", teams=lambda: owners(request).teams)
    if name := getattr(request, _RETURNS_AS, ""):
        return Asker(f"return {name}")
    return Asker(address_of(request), is_known=False)
