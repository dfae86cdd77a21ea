"""Interfaces of this machine come and go with the labs of tests; at that moment Chromium breaks off its requests."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_holding: list[int] = []


@contextmanager
def held() -> Iterator[None]:
    """Wait until no other process changes interfaces or shows pages, and keep them from it meanwhile.

    Within one that is held, another is held at once.
    """
    if _holding:
        yield
        return
    with Path(__file__).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _holding.append(file.fileno())
        try:
            yield
        finally:
            _holding.clear()
