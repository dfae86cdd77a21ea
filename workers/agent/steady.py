"""The agent's own time: the system's clock as it was when the agent began, carried on by one that nobody can set.

All times that the agent takes, keeps and reports are of this clock. The offset to the server is measured against it,
so that a clock that is set in mid-job changes neither a duration nor a time of the server.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

_BASE = time.time() - time.monotonic()
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def now() -> float:
    """Return the time (s since the epoch)."""
    return _BASE + time.monotonic()


def set_by() -> float:
    """Return by how much (s) the system's clock is ahead of the agent's because it was set since."""
    return time.time() - now()


def mark() -> dict[str, Any]:
    """Return what a later process of the agent needs to tell the time by this one's clock (`now_by`)."""
    return {"base": _BASE, "boot": _boot()}


def now_by(marked: object, *, not_before: float = 0.0) -> float:
    """Return the time (s) by the clock of the process that made a mark, which no clock that was set since changes.

    After another start of the machine, or without a mark, it is our own: `not_before`, if that is earlier.
    """
    own = marked if isinstance(marked, dict) else {}
    base = own.get("base")
    if isinstance(base, float) and own.get("boot") and own["boot"] == _boot():
        return base + time.monotonic()
    return max(now(), not_before)


def _boot() -> str:
    """Return what tells this start of the machine from every other, empty where the system does not say."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
