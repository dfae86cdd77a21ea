"""How much of a web process one asker may have: whatever is asked for, the others are answered meanwhile."""

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest

from apps.bench.text import Message, _
from apps.core.connections import give_back
from apps.core.limits.askers import address_of
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


class Askers:
    """Counts what is under way for each asker; of one person at most so much at once, as of all whom nobody knows.

    Of these one address has `most_of_address`.
    """

    def __init__(self, most: int, *, most_of_address: int = 0, wait_s: float = WAIT_S) -> None:
        self.most = most
        self.most_of_address = most_of_address or most
        self._wait_s = wait_s
        self._under_way: Counter[str] = Counter()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, asker: Asker) -> Iterator[None]:
        """Wait until less is under way for the asker; LimitExceededError (429) if that takes too long.

        Nobody waits whose asker has no name.
        """
        if not asker.name:
            yield
            return
        most = self._most_of(asker)
        if not self._take(most):
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

    def _take(self, most: Mapping[str, int]) -> bool:
        with self._changed:
            if self._has_room(most):
                self._under_way.update(most.keys())
                return True
        # Who waits keeps no connection from those who need not.
        give_back()
        end = time.monotonic() + self._wait_s
        with self._changed:
            while not self._has_room(most):
                if not self._changed.wait(end - time.monotonic()):
                    return False
            self._under_way.update(most.keys())
        return True

    def _has_room(self, most: Mapping[str, int]) -> bool:
        return all(self._under_way[name] < number for name, number in most.items())

    def _give_back(self, names: Iterable[str]) -> None:
        with self._changed:
            self._under_way.subtract(list(names))
            self._under_way = +self._under_way
            self._changed.notify_all()


# Of any person, and of all together who are not signed in, a third of the connections is left to others; a browser
# asks for six things at once.
of_process = Askers(max(1, settings.WEB_CONNECTIONS * 2 // 3), most_of_address=max(1, settings.WEB_CONNECTIONS // 2))
# Who wants to sign in is nobody yet, and finds a place whatever all others who are not signed in read meanwhile.
_SIGN_IN = "/accounts/"
of_sign_in = Askers(max(2, settings.WEB_CONNECTIONS // 4), most_of_address=max(1, settings.WEB_CONNECTIONS // 6))


def places_for(request: HttpRequest) -> Askers:
    """Return among whose places a request has its turn."""
    is_sign_in = request.path.startswith(_SIGN_IN) and not request.user.is_authenticated
    return of_sign_in if is_sign_in else of_process


def asker_of(request: HttpRequest) -> Asker:
    """Return who asks."""
    if request.user.is_authenticated:
        return Asker(f"person {request.user.pk}")
    return Asker(address_of(request), is_known=False)
