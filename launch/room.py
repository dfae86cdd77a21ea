"""Whether there is room on the disk for what starts: who ended for want of it need not wait once it is there."""

import os
from pathlib import Path

# With less, PostgreSQL may not even write down what it does (bytes); it counts as there again at twice as much.
LEAST_BYTES = 32 * 1024 * 1024


def is_scarce(folder: Path) -> bool:
    """Return whether next to nothing can be written there; not if that cannot be told."""
    free = _free_bytes(folder)
    return free is not None and free < LEAST_BYTES


def is_there_again(folder: Path) -> bool:
    """Return whether enough can be written for what ended when room was scarce."""
    free = _free_bytes(folder)
    return free is not None and free >= 2 * LEAST_BYTES


def _free_bytes(folder: Path) -> int | None:
    try:
        state = os.statvfs(folder)
    except OSError:
        return None
    return state.f_bavail * state.f_frsize
