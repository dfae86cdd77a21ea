"""How much of a web process one asker may have: whatever is asked for, the others are answered meanwhile."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.http import HttpRequest

from apps.bench.text import Message, _
from apps.core.connections import give_back
from apps.core.limits.askers import address_of
from apps.core.limits.policies import LimitExceededError

# For so long (s) a request waits for its asker's earlier ones: as long as any waits for a connection.
WAIT_S = 5.0
RETRY_AFTER_S = 5


class Askers:
    """Counts what is under way for each asker; of one asker at most so much at once."""

    def __init__(self, most: int, *, wait_s: float = WAIT_S) -> None:
        self.most = most
        self._wait_s = wait_s
        self._under_way: Counter[str] = Counter()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, asker: str) -> Iterator[None]:
        """Wait until less is under way for the asker; LimitExceededError (429) if that takes too long.

        Nobody waits whose asker is not known ("").
        """
        if not asker:
            yield
            return
        if not self._take(asker):
            text = _("As many of your requests are under way as one may have at once. Try again in %(seconds)s s.")
            raise LimitExceededError(Message(text), RETRY_AFTER_S)
        try:
            yield
        finally:
            self._give_back(asker)

    def _take(self, asker: str) -> bool:
        with self._changed:
            if self._under_way[asker] < self.most:
                self._under_way[asker] += 1
                return True
        # Who waits keeps no connection from those who need not.
        give_back()
        end = time.monotonic() + self._wait_s
        with self._changed:
            while self._under_way[asker] >= self.most:
                if not self._changed.wait(end - time.monotonic()):
                    return False
            self._under_way[asker] += 1
        return True

    def _give_back(self, asker: str) -> None:
        with self._changed:
            self._under_way[asker] -= 1
            self._under_way = +self._under_way
            self._changed.notify_all()


# A third of the connections is left to others; a browser asks for six things at once.
of_process = Askers(max(1, settings.WEB_CONNECTIONS * 2 // 3))


def asker_of(request: HttpRequest) -> str:
    """Return who asks: a person with all their tokens, or an address; "" if there is neither."""
    return f"person {request.user.pk}" if request.user.is_authenticated else address_of(request)
