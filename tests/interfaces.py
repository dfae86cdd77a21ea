"""Interfaces of this machine come and go with the labs of tests; at that moment Chromium breaks off its requests."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held() -> Iterator[None]:
    """Wait until no other test changes interfaces or shows pages, and keep them from it meanwhile."""
    with Path(__file__).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
