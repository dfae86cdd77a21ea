"""One child process: started, listened to, stopped with its whole group, and seen off."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, cast

from . import steady
from .gate import Gate
from .identity import Identity
from .kin import signal_kin
from .places import USUAL_FOLDERS
from .ready import Automaton, Search
from .sandbox import OFFSPRING, Starter

CHUNK = 65536
# After SIGTERM a process has this long to print its last words: at its time limit, and when somebody wants it stopped
# and all traffic ended within two seconds of saying so.
GRACE_S = 2.0
STOP_GRACE_S = 1.0
# How long a dead process's pipes are read on, should a grandchild outside its group hold them open.
DRAIN_S = 0.5
# Without a descriptor for the process (before Linux 5.3) its end is looked for this often.
LOOK_S = 0.02
# How long the group's end waits for the search of what has left it.
KIN_WITHIN_S = 1.0


class Stream:
    """What one pipe gave: the first `limit` bytes, and how many there were in all."""

    def __init__(self, limit: int) -> None:
        self.head = bytearray()
        self.total = 0
        self._limit = limit
        self._search: Search | None = None

    def look_for(self, pattern: Automaton | None) -> None:
        """Search what comes from now on for a pattern; for none, with None."""
        self._search = Search(pattern) if pattern is not None else None

    def take(self, chunk: bytes) -> bool:
        """Keep a chunk; True if the pattern is matched at its end, or was within it."""
        self.total += len(chunk)
        self.head += chunk[: max(0, self._limit - len(self.head))]
        return self._search is not None and self._search.take(chunk)

    @property
    def is_cut(self) -> bool:
        """Return whether there was more than is kept."""
        return self.total > len(self.head)


class Process:
    """A running argv, started from a thread that `confine` confines and that stays as long as the process does."""

    def __init__(
        self,
        argv: list[str],
        program: str,
        folder: Path,
        identity: Identity,
        output_limit: int,
        variables: Mapping[str, str] = MappingProxyType({}),
        gate: Gate | None = None,
        confine: Callable[[], None] = lambda: None,
    ) -> None:
        place = Path(program)
        environment = {
            **variables,
            "PATH": os.pathsep.join([str(place.parent), *USUAL_FOLDERS]),
            "LC_ALL": "C",
            "HOME": str(folder),
            "TMPDIR": str(folder),
            # For what starts a Python of its own: no module comes from where the job works, or from its home.
            "PYTHONSAFEPATH": "1",
            "PYTHONNOUSERSITE": "1",
        }
        options: dict[str, Any] = {"executable": program, **identity.as_options()}
        if identity.becoming:
            # It looks the program up on the path above, under the name by which the program is to know itself.
            argv = [*identity.becoming, "--", argv[0] if place.name == argv[0] else program, *argv[1:]]
            options = {}
        if gate is not None:
            options["preexec_fn"] = _one_after_the_other(options.get("preexec_fn"), gate.hold)
        self._becoming, self._folder = identity.becoming, folder
        options |= {"cwd": folder, "env": environment, "start_new_session": True}
        options |= {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        OFFSPRING.begin(folder)
        self._starter = Starter(confine, lambda: subprocess.Popen(argv, **options))
        try:
            self._popen = self._starter.process()
        except Exception:
            OFFSPRING.end(folder)
            raise
        OFFSPRING.started(folder, self._popen.pid)
        self.started_at = (gate.passed_at() if gate else None) or steady.now()
        self.ended_at = self.started_at
        self.pid = self._popen.pid
        self.timed_out = False
        self.stdout, self.stderr = Stream(output_limit), Stream(output_limit)
        self._pipes = [
            (cast("IO[bytes]", self._popen.stdout), self.stdout),
            (cast("IO[bytes]", self._popen.stderr), self.stderr),
        ]
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._stopping = self._was_asked = False
        self._wake_read, self._wake_write = os.pipe()
        self.ready_at: float | None = None
        self._is_ready_or_over, self._is_over = threading.Event(), threading.Event()
        self._failure: BaseException | None = None

    @property
    def exit_code(self) -> int | None:
        """Return the exit status, or None if a signal ended it."""
        return self._popen.returncode if (self._popen.returncode or 0) >= 0 else None

    @property
    def end_signal(self) -> int | None:
        """Return the signal that ended it, or None."""
        return -self._popen.returncode if (self._popen.returncode or 0) < 0 else None

    @property
    def failure_to_start(self) -> str:
        """Return why the program could not be started though its process was, "" if it could."""
        text = bytes(self.stderr.head).decode("utf-8", "replace").strip()
        failed = self._becoming and self.exit_code in (126, 127) and text.startswith("setpriv: failed to execute")
        return text if failed else ""

    def stop(self) -> None:
        """Ask, from any thread, for SIGTERM to all processes of the job and SIGKILL one second later."""
        with self._lock:
            was_stopping, self._stopping = self._stopping, True
            if not was_stopping and self._wake_write >= 0:
                os.write(self._wake_write, b"x")

    def attend(self, time_limit_s: float, pattern: Automaton | None) -> None:
        """Begin to listen, to look for `pattern` and to keep the time limit, in a thread that touches no disk."""
        self._look_for(pattern)
        # Not a disk's business: whoever writes down what happened may wait for one that hangs.
        threading.Thread(target=self._attend, args=(time_limit_s,), name=f"watch-{self.pid}", daemon=True).start()

    def wait_until_ready(self) -> float | None:
        """Wait until its output matches, and return when that was (s since the epoch); None if it ended without."""
        self._is_ready_or_over.wait()
        return self.ready_at

    def is_over_within(self, patience_s: float) -> bool:
        """Say whether it is over; wait so long (s) for that at most."""
        return self._is_over.wait(patience_s)

    def wait(self) -> None:
        """Wait until it has ended, and all that it started is seen off."""
        self._is_over.wait()
        if self._failure is not None:
            raise self._failure

    def _attend(self, time_limit_s: float) -> None:
        try:
            self._keep(time_limit_s)
        except BaseException as error:
            self._failure = error
        self._is_over.set()
        self._is_ready_or_over.set()

    def _keep(self, time_limit_s: float) -> None:
        for pipe, stream in self._pipes:
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, stream)
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        end = _open_process(self.pid)
        if end is not None:
            self._selector.register(end, selectors.EVENT_READ)
        try:
            self._listen(time_limit_s, exact=end is not None)
        finally:
            if end is not None:
                self._selector.unregister(end)
                os.close(end)
            self._see_off()

    def _listen(self, time_limit_s: float, *, exact: bool) -> None:
        """Read the pipes, keep the time limit and obey stops until the process has ended; it is reaped later."""
        act_at = time.monotonic() + time_limit_s
        was_asked = was_stopping = False
        while not _has_ended(self.pid):
            now = time.monotonic()
            if self._stopping and not was_stopping:
                was_stopping = True
                act_at = min(act_at, now + STOP_GRACE_S) if was_asked else now
            if now >= act_at:
                self.timed_out = self.timed_out or not self._stopping
                self._signal_all(signal.SIGKILL if was_asked else signal.SIGTERM)
                act_at = now + (STOP_GRACE_S if self._stopping else GRACE_S)
                was_asked = self._was_asked = True
            patience = max(0.0, act_at - now)
            self._read(patience if exact else min(patience, LOOK_S))
        self.ended_at = steady.now()

    def _see_off(self) -> None:
        """End what is left of the group, read the pipes to their end, reap the process."""
        # Before the process is reaped its number cannot be another group's.
        if self._was_asked:
            self._signal_all(signal.SIGKILL)
        else:
            self._signal(signal.SIGKILL)
        OFFSPRING.end(self._folder)
        with self._lock:
            self._selector.unregister(self._wake_read)
            os.close(self._wake_read)
            os.close(self._wake_write)
            self._wake_write = -1
        deadline = time.monotonic() + DRAIN_S
        while self._selector.get_map() and time.monotonic() < deadline:
            self._read(LOOK_S)
        self._selector.close()
        for pipe, _stream in self._pipes:
            pipe.close()
        self._popen.wait()
        OFFSPRING.reaped(self.pid)
        self._starter.release()

    def _read(self, patience: float) -> None:
        """Read what there is, waiting for it at most `patience` (s)."""
        for key, _events in self._selector.select(patience):
            if key.fd == self._wake_read:
                os.read(self._wake_read, 1)
            if key.data is None:
                continue
            chunk = os.read(key.fd, CHUNK)
            if not chunk:
                self._selector.unregister(key.fileobj)
            elif key.data.take(chunk):
                self._look_for(None)
                self.ready_at = steady.now()
                self._is_ready_or_over.set()

    def _look_for(self, pattern: Automaton | None) -> None:
        for _pipe, stream in self._pipes:
            stream.look_for(pattern)

    def _signal_all(self, number: signal.Signals) -> None:
        """Signal the group, and what has left it."""
        self._signal(number)
        # What processes tell of themselves in /proc may be held up by a disk for which they wait.
        words = (self._folder, number, self.pid)
        kin = threading.Thread(target=signal_kin, args=words, name=f"kin-{self.pid}", daemon=True)
        kin.start()
        kin.join(KIN_WITHIN_S)

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            # Gone, or a program that became another user: its own time limit has to do.
            pass


def _one_after_the_other(first: Callable[[], None] | None, second: Callable[[], None]) -> Callable[[], None]:
    """Return what a child does between fork and exec: `first`, if there is any, then `second`."""

    def steps() -> None:
        if first is not None:
            first()
        second()

    return steps


def _open_process(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process ends, where the system has such."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _has_ended(pid: int) -> bool:
    """Say whether the child has ended, leaving it to be reaped later."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
