"""What a request begins and its response ends: ended with the request, whether or not there comes to be a response.

Django closes a response. Where the reader goes while the view is still at work, none reaches it.
"""

import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

End = Callable[[], object]


class _Endings:
    """What is to be called when a request ends; it can be called more than once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: list[End] | None = []

    def add(self, end: End) -> None:
        """Call `end` when the request ends: at once if it has, for no thread of a view can be stopped."""
        with self._lock:
            if self._ends is not None:
                self._ends.append(end)
                return
        end()

    def call(self) -> None:
        """Call all of them, the last one first."""
        with self._lock:
            ends, self._ends = self._ends or [], None
        for end in reversed(ends):
            end()


_of_request: contextvars.ContextVar[_Endings | None] = contextvars.ContextVar("endings", default=None)


@contextmanager
def called() -> Iterator[None]:
    """Call what the block, and the tasks and threads it starts, give to `at_end`, when the block ends."""
    endings = _Endings()
    token = _of_request.set(endings)
    try:
        yield
    finally:
        _of_request.reset(token)
        endings.call()


def at_end(end: End) -> bool:
    """Have `end` called when the request ends that this is done for; False outside of one, where it never is."""
    endings = _of_request.get()
    if endings is not None:
        endings.add(end)
    return endings is not None
