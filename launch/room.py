"""Whether there is room on the disk for what starts: who ended for want of it need not wait once it is there."""

import os
from collections.abc import Iterable
from pathlib import Path

# With less, PostgreSQL may not even write down what it does (bytes); it counts as there again at twice as much.
LEAST_BYTES = 32 * 1024 * 1024
# Nor with fewer files more; a disk may hold no more files though it has bytes.
LEAST_FILES = 64


def scarce_in(folders: Iterable[Path]) -> Path | None:
    """Return the first of some folders in which next to nothing can be written; none of which that cannot be told."""
    return next(
        (folder for folder in folders if (free := _free_bytes(folder)) is not None and free < LEAST_BYTES), None
    )


def is_there_again(folder: Path) -> bool:
    """Return whether enough can be written for what ended when room was scarce."""
    free = _free_bytes(folder)
    return free is not None and free >= 2 * LEAST_BYTES


def _free_bytes(folder: Path) -> int | None:
    """Return the free bytes of a folder's disk, none of them for want of files; None if that cannot be told."""
    try:
        state = os.statvfs(folder)
    except OSError:
        return None
    free = state.f_bavail * state.f_frsize
    # Some file systems count no files.
    return min(free, state.f_favail * LEAST_BYTES // LEAST_FILES) if state.f_files else free
