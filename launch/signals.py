"""Signals that stop everything."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from launch.supervisor import Supervisor, print_event


@contextmanager
def stop_on_signals(supervisor: Supervisor) -> Iterator[None]:
    """Have Ctrl-C, SIGTERM and a closed terminal stop the supervisor while the block runs (main thread only)."""

    def handle(number: int, _frame: FrameType | None) -> None:
        supervisor.request_stop()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interrupted_by_all() -> Iterator[None]:
    """Have SIGTERM and a closed terminal interrupt what is done as Ctrl-C does (main thread only)."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    except KeyboardInterrupt:
        print_event("fathom", "stopped before it was done; nothing has changed")
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
