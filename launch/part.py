"""A process in the supervisor's table, and what became of it."""

import os
import signal
import threading
from collections.abc import Iterator

from launch.liveness import Listener, StoppedProcesses
from launch.process import Child, Process, ProcessError


class Part:
    """A process in the supervisor's table, and what became of it."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.child: Child | None = None
        self.failures = 0
        self.start_at = 0.0
        self.error: ProcessError | None = None
        self.settled = threading.Event()
        self._listener = Listener(process.name, process.sign) if process.sign else None
        self._stopped = StoppedProcesses()

    @property
    def alive(self) -> bool:
        """Say whether it runs now."""
        return self.child is not None and self.child.alive

    def take(self, child: Child) -> None:
        """Note the process that runs from now on."""
        self.child = child
        if self._listener is not None:
            self._listener.begin_anew()

    def end(self) -> None:
        """Listen no more."""
        if self._listener is not None:
            self._listener.stop()

    def end_halts(self) -> Iterator[str]:
        """Kill what of it has come to a halt, and yield in words what was killed."""
        if self.child is None or not self.child.alive:
            return
        after_s = self.process.hang_after_s
        stopped = self._stopped.longer_than(self.child.pid, after_s)
        if self.child.pid in stopped:
            self.child.kill()
            yield f"was stopped for {after_s:g} s, killed"
        elif self._listener and self._listener.is_silent(after_s=after_s, at_first_s=self.process.ready_timeout_s):
            self.child.kill()
            yield f"gave no sign of life for {after_s:g} s, killed"
        else:
            yield from (f"its process {pid} was stopped for {after_s:g} s, killed" for pid in stopped if _kill(pid))


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
