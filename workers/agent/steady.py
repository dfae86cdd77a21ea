"""The agent's own time: the system's clock as it was when the agent began, carried on by one that nobody can set.

All times that the agent takes, keeps and reports are of this clock. The offset to the server is measured against it,
so that a clock that is set in mid-job changes neither a duration nor a time of the server.
"""

from __future__ import annotations

import time

_BASE = time.time() - time.monotonic()


def now() -> float:
    """Return the time (s since the epoch)."""
    return _BASE + time.monotonic()


def set_by() -> float:
    """Return by how much (s) the system's clock is ahead of the agent's because it was set since."""
    return time.time() - now()
