"""Free ports for what the tests start, each given out once.

The kernel gives ports of its own range to whoever connects: a port that was free a moment ago may be the end of a
connection. These lie below that range, each process has a stretch of its own, and it goes round it.
"""

import itertools
import os
import socket

_FIRST, _STRETCHES, _WIDTH = 12_000, 200, 100
_places = itertools.count()


def free_port(address: str = "", *, in_a_row: int = 1) -> int:
    """Return a TCP port that is free on `address` (on all when empty), as are the `in_a_row` - 1 after it."""
    # Workers have process numbers side by side.
    first = _FIRST + os.getpid() % _STRETCHES * _WIDTH
    for _ in range(_WIDTH):
        row = [first + next(_places) % _WIDTH for _ in range(in_a_row)]
        if row[0] <= row[-1] and all(_is_free(address, port) for port in row):
            return row[0]
    raise AssertionError(f"no port from {first} to {first + _WIDTH - 1} is free")


def _is_free(address: str, port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True
