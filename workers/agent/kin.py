"""The processes of a job, wherever they went: in its session, in its folder, or with its environment."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import NamedTuple


class Status(NamedTuple):
    """A process's parent, session, and when it was started (clock ticks after the machine's start)."""

    parent: int
    session: int
    born: int


def stat_of(pid: int) -> Status | None:
    """Return what proc(5)'s stat says of a process, None if it is gone."""
    try:
        # The name, in parentheses, may hold blanks.
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return Status(int(words[1]), int(words[3]), int(words[19]))
    except (OSError, IndexError, ValueError):
        return None


def birth_of(pid: int) -> str | None:
    """Return when a process was started (clock ticks after boot); None if it is gone."""
    status = stat_of(pid)
    return str(status.born) if status else None


def belongs_to(pid: int, folder: Path) -> bool:
    """Say whether a process works in a job's folder or calls it its home, as far as we see."""
    path = Path(f"/proc/{pid}")
    return _works_in(path, folder) or _has(path, b"HOME=" + os.fsencode(folder))


def kin_of(folder: Path, session: int | None = None) -> set[int]:
    """Return the processes that work in a job's folder, call it their home or are of its session, as far as we see.

    A process group is not all: MPI launchers give each rank a group of its own, and servers become daemons.
    """
    kin = set()
    for path in Path("/proc").glob("[0-9]*"):
        pid = int(path.name)
        if pid != os.getpid() and (_session_of(pid) == session or belongs_to(pid, folder)):
            kin.add(pid)
    return kin


def signal_kin(folder: Path, number: signal.Signals, session: int | None = None) -> None:
    """Signal a job's processes (`kin_of`) but for the leader of the session, as far as we may."""
    for pid in kin_of(folder, session) - {session}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _session_of(pid: int) -> int:
    status = stat_of(pid)
    return status.session if status else -1


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
