"""How much of a processor a piece of work may take that comes from outside: it is ended, whatever it is at."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# What one file, or what one run printed, may take to be read (s of a processor).
READING_S = 30.0
# What of that it may take beside the steps of everybody's measurements: the rest it has in turns.
QUICK_S = 5.0
# Who catches the error as any other meets it again after so long (s).
_AGAIN_S = 1.0


class OutOfTimeError(Exception):
    """Work took more of a processor than it may."""


@contextmanager
def limited(seconds: float | None = None) -> Iterator[None]:
    """Raise OutOfTimeError in the block after `seconds` (READING_S) of this process's processor.

    Regular expressions are ended within a match, too. Only for work that talks to nobody: it ends anywhere. Within
    another limit nothing more is limited. It is a RuntimeError in a thread beside the main one, where nothing could
    be: what the web server has to read is read by a worker, or by a program of its own.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("no limit holds in a thread beside the main one")
    if signal.getitimer(signal.ITIMER_VIRTUAL)[0]:
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _end)
    signal.setitimer(signal.ITIMER_VIRTUAL, READING_S if seconds is None else seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _end(_number: int, _frame: object) -> None:
    raise OutOfTimeError
