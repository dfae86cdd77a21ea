"""The processes of a job, wherever they went: in its session, its folder or its memory, or with its environment.

The shared memory that a job has of its own (`sandbox`) is mounted under the job's name, which the kernel tells of
each process that sees it, whatever that hides of itself. The number of its namespace would not do: the kernel gives
the lowest that is free, so the next job of another agent has that of one that is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

# So often what is killed is looked for again, for it may have had children meanwhile.
ROUNDS = 50
PAUSE_S = 0.01


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
    """Say whether a process works in a job's folder, calls it its home or has the job's memory, as far as we see."""
    path = Path(f"/proc/{pid}")
    return _works_in(path, folder) or _has(path, b"HOME=" + os.fsencode(folder)) or _has_memory(path, folder)


def memory_name(folder: Path) -> str:
    """Return by which name the shared memory of the job in a folder is mounted."""
    # The kernel writes blanks and some signs as octal numbers.
    return "fathom:" + quote(os.fsencode(folder))


def kin_of(folder: Path, session: int | None = None) -> set[int]:
    """Return the processes that belong to the job in a folder (`belongs_to`) or are of its session, as far as we see.

    A process group is not all: MPI launchers give each rank a group of its own, and servers become daemons.
    """
    kin = set()
    for path in Path("/proc").glob("[0-9]*"):
        pid = int(path.name)
        if pid != os.getpid() and (_session_of(pid) == session or belongs_to(pid, folder)):
            kin.add(pid)
    return kin


def signal_kin(folder: Path, number: signal.Signals, session: int | None = None) -> bool:
    """Signal a job's processes (`kin_of`) but for the leader of the session; say whether we might signal any."""
    has_any = False
    for pid in kin_of(folder, session) - {session}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
            has_any = True
    return has_any


def end_kin(folder: Path) -> bool:
    """Kill a job's processes (`belongs_to`) until none is there; False if one is still, such as one a disk holds."""
    for _round in range(ROUNDS):
        if not signal_kin(folder, signal.SIGKILL):
            return True
        time.sleep(PAUSE_S)
    return False


def _session_of(pid: int) -> int:
    status = stat_of(pid)
    return status.session if status else -1


def _works_in(path: Path, folder: Path) -> bool:
    try:
        place = (path / "cwd").readlink()
    except OSError:
        return False
    return place == folder or folder in place.parents


def _has_memory(path: Path, folder: Path) -> bool:
    """Say whether a process has the memory of the job in a folder, as mountinfo (proc(5)) tells anybody."""
    # Most have the agent's own mounts, of which there may be many.
    own = _namespace(Path("/proc/self"))
    if own and _namespace(path) == own:
        return False
    # What the first process has, too, was mounted by somebody else under the job's name.
    return _mounts(path, folder) and not _mounts(Path("/proc/1"), folder)


def _mounts(path: Path, folder: Path) -> bool:
    name = memory_name(folder).encode("ascii")
    try:
        text = (path / "mountinfo").read_bytes()
    except OSError:
        return False
    # Other file systems can be mounted by users, under any name.
    lines = [line for line in text.splitlines() if name in line]
    return any(line.partition(b" - ")[2].split()[:2] == [b"tmpfs", name] for line in lines)


def _namespace(path: Path) -> str:
    """Return the namespace of a process's mounts, "" if we may not know it."""
    try:
        return str((path / "ns/mnt").readlink())
    except OSError:
        return ""


def _has(path: Path, variable: bytes) -> bool:
    try:
        return variable in (path / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
