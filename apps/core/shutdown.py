"""How a worker that is to stop has its tasks leave what they are at: within seconds, and nothing counts as lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# What a worker sends to those of its processes that are at a task. SIGTERM also comes where a task took too long.
SIGNAL = signal.SIGUSR2


class ShuttingDown(KeyboardInterrupt):
    """The worker is to stop: leave the work as it would be taken up if it had never been begun.

    No Exception, so that nobody takes it for a failure of what they were at; as with Ctrl-C, psycopg cancels the
    statement under way, and the connection can be used to give back what was claimed.
    """


class _Shield:
    """How many blocks put the end off now, and whether it came meanwhile."""

    depth = 0
    is_asked = False


def ignore() -> None:
    """Let the signal pass from now on, as a process that is at no task: there is nothing to leave."""
    signal.signal(SIGNAL, signal.SIG_IGN)


@contextmanager
def heard() -> Iterator[None]:
    """Raise ShuttingDown anywhere in the block once the worker is to stop; in a process's main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(SIGNAL, _leave)
    try:
        yield
    finally:
        signal.signal(SIGNAL, before)
        _Shield.is_asked = False


class WorkClaim:
    """What a worker has just taken: it is to stop only where it gives that back, and nothing counts as lost."""

    def __init__(self) -> None:
        self._is_over = False
        _Shield.depth += 1

    def begun(self) -> None:
        """Raise ShuttingDown from now on, at once if it was asked for meanwhile."""
        self.end()
        if _Shield.is_asked and not _Shield.depth:
            _leave()

    def end(self) -> None:
        """Put nothing off any more."""
        if not self._is_over:
            self._is_over = True
            _Shield.depth -= 1


@contextmanager
def put_off() -> Iterator[WorkClaim]:
    """Raise it at the end of the block and not within: for what must be noted once it was done, and takes little.

    What is claimed in the block may be carried out in it, too, if it calls `begun` where the claim can be given back.
    """
    claim = WorkClaim()
    try:
        yield claim
    finally:
        claim.end()
    if _Shield.is_asked and not _Shield.depth:
        _leave()


def _leave(*_of_signal: object) -> None:
    # Asked again and again: where it is raised in a finaliser, it is lost.
    _Shield.is_asked = True
    if not _Shield.depth:
        raise ShuttingDown
