"""The processes of a job, wherever they went: in its session, in its folder, or with its environment."""

from __future__ import annotations

import os
from pathlib import Path


def kin_of(folder: Path, session: int | None = None) -> set[int]:
    """Return the processes that work in a job's folder, call it their home or are of its session, as far as we see.

    A process group is not all: MPI launchers give each rank a group of its own, and servers become daemons.
    """
    home = b"HOME=" + os.fsencode(folder)
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        pid = int(path.name)
        if pid != os.getpid() and (_session_of(path) == session or _works_in(path, folder) or _has(path, home)):
            found.add(pid)
    return found


def _session_of(path: Path) -> int:
    """Return a process's session (field 6 of proc(5)'s stat); -1 if it is gone."""
    try:
        # The name, in parentheses, may hold blanks.
        return int((path / "stat").read_bytes().rpartition(b")")[2].split()[3])
    except (OSError, IndexError, ValueError):
        return -1


def _works_in(path: Path, folder: Path) -> bool:
    try:
        place = (path / "cwd").readlink()
    except OSError:
        return False
    return place == folder or folder in place.parents


def _has(path: Path, variable: bytes) -> bool:
    try:
        return variable in (path / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
