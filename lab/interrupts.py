"""Holds Ctrl-C and SIGTERM back while something is half done."""

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Only note SIGINT and SIGTERM; give a function that raises KeyboardInterrupt if one has come, as does the end.

    An exception raised by the signal itself, just while a process is being started, would lose sight of that process.
    """
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)

    def check() -> None:
        if noted:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    check()
