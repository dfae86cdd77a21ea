"""What jobs leave behind: processes that left their group and lost their parents, adopted by the agent and ended.

The kernel gives them to the agent as the nearest subreaper, in sessions of their own; no job's process shares the
agent's session, and what the agent itself starts besides stays in it. Whose an orphan is, is told by its session,
folder, home or memory; one that hides them all is ended when all jobs have ended that were there at its birth. What
this process started before it was told to adopt orphans is nobody's to end.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

from ..kin import PAUSE_S, ROUNDS, belongs_to, stat_of
from .kernel import adopt_orphans

# So often (s) a job's end looks again after its rounds, for what a disk holds up.
LATE_PAUSE_S = 0.2
_TICKS = os.sysconf("SC_CLK_TCK")


class Offspring:
    """The jobs' processes that are under way, and the orphans that they leave."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # {folder: (since when (clock ticks after boot), process id once there is one)}
        self._jobs: dict[Path, tuple[int, int | None]] = {}
        # Jobs' own processes until who started them has their end: whoever reaped one would take its exit status.
        self._unreaped: set[int] = set()
        # Since when orphans are ours (clock ticks after boot); without that all that we have for children is our own.
        self._since: int | None = None

    def adopt(self) -> bool:
        """Make this process the parent of the orphans to come; False where the kernel has no such."""
        if self._since is None and adopt_orphans():
            self._since = _now()
        return self._since is not None

    def begin(self, folder: Path) -> None:
        """Note that the process of the job in `folder` is about to be made."""
        with self._lock:
            self._jobs[folder] = (_now(), None)

    def started(self, folder: Path, pid: int) -> None:
        """Note its process."""
        with self._lock:
            since, _none = self._jobs[folder]
            self._jobs[folder] = (since, pid)
            self._unreaped.add(pid)

    def reaped(self, pid: int) -> None:
        """Note that the process of a job is gone, and its exit status taken."""
        with self._lock:
            self._unreaped.discard(pid)

    def end(self, folder: Path) -> None:
        """Note that the job is over, and kill the orphans that only it can have left; they are gone on return.

        One that waits for a hung disk is gone only when that answers, however long it takes: it uses still what the
        job used. One that may not be killed is not waited for.
        """
        with self._lock:
            _since, pid = self._jobs.pop(folder, (0, None))
        number = 0
        while self._end_orphans(folder, pid, is_late=number >= ROUNDS):
            time.sleep(PAUSE_S if number < ROUNDS else LATE_PAUSE_S)
            number += 1

    def _end_orphans(self, folder: Path, first: int | None, *, is_late: bool) -> bool:
        """Kill the orphans of a job whose first process was `first`, and reap the dead; say whether there were any.

        What they leave in their turn comes to us, and is the next round's. Late, those alone count that are this
        job's beyond doubt and have taken their SIGKILL.
        """
        if self._since is None:
            return False
        # First who is there, then what is under way: a process that was made meanwhile has its job noted by then.
        children = _children()
        with self._lock:
            under_way, spared = list(self._jobs.values()), {first, *self._unreaped}
        has_any = False
        for pid in children - spared:
            status = stat_of(pid)
            if status is None or status.parent != os.getpid() or status.session == os.getsid(0):
                continue
            if status.born < self._since:
                continue
            is_ours = status.session == first or belongs_to(pid, folder)
            if is_ours or not any(since <= status.born for since, _pid in under_way):
                has_taken_it = _end_child(pid)
                has_any = has_any or not is_late or (is_ours and has_taken_it)
        return has_any


def _now() -> int:
    """Return the present as the kernel counts a process's birth, a tick early, for it rounds down."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS) - 1


def _end_child(pid: int) -> bool:
    """Kill and, if it is dead, reap a child; return whether it is still there although it was killed."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] == 0
    return False


def _children() -> set[int]:
    """Return the processes whose parent we are."""
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        # A kernel without these lists (CONFIG_PROC_CHILDREN).
        pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
        return {pid for pid in pids if (status := stat_of(pid)) is not None and status.parent == os.getpid()}
    children: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        # A thread may end meanwhile.
        with contextlib.suppress(OSError):
            children.update(map(int, (task / "children").read_text(encoding="ascii").split()))
    return children


# One of the whole agent process, as the adoption is.
OFFSPRING = Offspring()
