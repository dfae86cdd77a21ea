"""Start processes, restart what dies, stop all of it: one line per event."""

import dataclasses
import functools
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from launch import liveness, orphans
from launch.lines import Lines
from launch.looks import Looks
from launch.part import RESTART_DELAYS_S, Part
from launch.process import AwayError, Child, EndedBySignalError, Process, ProcessError, SlowStartError

# A process that ran this long has recovered: its next end is the first in a row again.
RECOVERED_S = 60.0
# What others end before it is ready so often in a row is not started for ever.
MOST_FIRST_STARTS = 5
TRIM_EVERY_S = 60.0
# How often to look for parts that have come to a halt (s).
HALTS_EVERY_S = 2.0
_LOOK_S = 0.1
_lines = Lines()


class Stopped(Exception):
    """The supervisor was told to stop before everything had started."""


def print_event(part: str, text: str) -> None:
    """Print one line: the local time, the part, what happened."""
    _lines.write(part, text)


class Supervisor:
    """Keeps processes running.

    One thread starts, watches and ends all of them, because a death signal follows the thread that started a process.
    `report(part, text)` gets every event; `on_change({name: pid})` what runs, after each change and once a minute.
    """

    def __init__(
        self,
        *,
        logs: Path,
        mark: str = "",
        report: Callable[[str, str], None] = print_event,
        on_change: Callable[[Mapping[str, int]], None] = lambda _pids: None,
        delays_s: tuple[float, ...] = RESTART_DELAYS_S,
    ) -> None:
        self._logs = logs
        self._mark = mark
        self._report = report
        self._looks = Looks(report)
        self._on_change = on_change
        self._delays_s = delays_s
        self._parts: list[Part] = []
        self._stopping = threading.Event()
        self._asked = threading.Event()
        self._hurry = threading.Event()
        self._started = False
        self._thread = threading.Thread(target=self._work, name="supervisor", daemon=True)

    def add(self, process: Process) -> None:
        """Put a process into the table; once started, start it and wait until it is ready.

        ProcessError if it does not become ready (it is out of the table then), Stopped if told to stop meanwhile.
        """
        if any(part.process.name == process.name for part in self._parts):
            raise ValueError(f"There is a process named {process.name} already.")
        part = Part(process, self._delays_s)
        self._parts.append(part)
        if self._started:
            self._settle(part)
            if part.error:
                part.end()
                self._parts.remove(part)
                raise part.error

    def start(self) -> None:
        """Start everything in the table's order, each when the one before is ready.

        ProcessError if one does not become ready, Stopped if told to stop meanwhile; everything is stopped then.
        """
        self._thread.start()
        for part in list(self._parts):
            self._settle(part)
            if part.error:
                self.stop()
                raise part.error
        self._started = True

    def wait(self) -> None:
        """Return when everything was stopped, after request_stop()."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def request_stop(self) -> None:
        """Begin to stop everything, in order; called a second time, without patience."""
        if self._asked.is_set():
            self._hurry.set()
        self._asked.set()
        self._stopping.set()

    def stop(self) -> None:
        """Stop everything and wait for it."""
        self._stopping.set()
        if self._thread.is_alive():
            self.wait()

    @property
    def is_stopping(self) -> bool:
        """Return whether the stop of everything has begun."""
        return self._stopping.is_set()

    def pids(self) -> dict[str, int]:
        """Return the process number of each part that runs."""
        return {part.process.name: part.child.pid for part in self._parts if part.child is not None and part.alive}

    def __enter__(self) -> "Supervisor":
        """Start everything."""
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop everything."""
        self.stop()

    def _settle(self, part: Part) -> None:
        while not part.settled.wait(0.2):
            if not self._thread.is_alive():
                raise Stopped
        if self._asked.is_set():
            self.stop()
            raise Stopped

    def _work(self) -> None:
        trim_at, halts_at = time.monotonic() + TRIM_EVERY_S, 0.0
        try:
            while not self._stopping.wait(_LOOK_S):
                for part in list(self._parts):
                    if self._stopping.is_set():
                        break
                    self._looks.take(part.process.name, "cannot be looked after", self._look_after, part)
                    # What comes after it waits for it.
                    if not part.settled.is_set():
                        break
                if time.monotonic() > halts_at:
                    self._looks.take("supervisor", "cannot look for halts", self._end_halts)
                    halts_at = time.monotonic() + HALTS_EVERY_S
                if time.monotonic() > trim_at:
                    self._trim_logs()
                    trim_at = time.monotonic() + TRIM_EVERY_S
                    self._tell(self.pids())
        finally:
            self._stop_all()

    def _end_halts(self) -> None:
        groups = liveness.processes_by_group()
        for part in self._parts:
            if part.settled.is_set() and not part.process.once:
                self._looks.take(part.process.name, "cannot be told of", self._tell_of, part, groups)

    def _tell_of(self, part: Part, groups: Mapping[int, Mapping[int, liveness.Moment]]) -> None:
        for words in (*part.end_halts(groups), *part.hasten_end(), *part.new_waits(), *part.new_troubles()):
            self._report(part.process.name, words)

    def _trim_logs(self) -> None:
        for part in self._parts:
            if part.child is not None:
                self._looks.take(part.process.name, "its log cannot be set aside", part.child.trim_log)

    def _look_after(self, part: Part) -> None:
        try:
            if not part.settled.is_set():
                if part.is_due:
                    self._start_first(part)
            elif part.process.once or part.error or part.alive:
                return
            elif part.child is not None and not part.start_at:
                self._schedule_restart(part, part.child)
            elif part.is_due:
                self._spawn(part)
        except (OSError, ProcessError) as error:
            self._put_off(part, error)

    def _start_first(self, part: Part) -> None:
        try:
            self._start_patiently(part)
            if part.is_waited_for:
                self._report(part.process.name, "done" if part.process.once else "ready")
        except (ProcessError, OSError) as error:
            if isinstance(error, AwayError) and part.failures + 1 < MOST_FIRST_STARTS and part.child is not None:
                self._schedule_restart(part, part.child)
                return
            part.error = error if isinstance(error, ProcessError) else ProcessError(f"{part.process.name}: {error}")
            if part.child is not None:
                part.child.stop()
            if not self._started:
                self._stopping.set()
        part.settled.set()

    def _start_patiently(self, part: Part) -> None:
        """Start a part and wait until it is ready: one too slow once more with more time, as it may lack the
        processor; one that a signal ended, or whose log cannot be opened, as later on: it did not refuse to start.
        """
        limit_s, tell = part.process.ready_timeout_s, functools.partial(self._report, part.process.name)
        while True:
            try:
                child = self._spawn(part)
            except OSError as error:
                # Without the folder of the logs none would ever run.
                is_vital = part.is_waited_for or not (self._started or self._logs.is_dir())
                if is_vital and (self._started or part.failures + 1 == MOST_FIRST_STARTS):
                    raise
                self._put_off(part, error)
                if not is_vital:
                    return
                if self._stopping.wait(part.start_at - time.monotonic()):
                    raise
                continue
            try:
                child.wait_ready(timeout_s=limit_s, given_up=self._stopping.is_set, tell=tell)
                part.failures = 0
                return
            except EndedBySignalError:
                if self._started or part.failures + 1 == MOST_FIRST_STARTS:
                    raise
                self._schedule_restart(part, child)
                if self._stopping.wait(part.start_at - time.monotonic()):
                    raise
            except SlowStartError:
                if self._started or self._stopping.is_set():
                    raise
                child.stop()
                tell(f"not ready within {limit_s:g} s, starts again with {2 * limit_s:g} s; see {child.log}")
                limit_s *= 2
            except ProcessError:
                if not self._mend(part, child):
                    raise

    def _spawn(self, part: Part) -> Child:
        env = {**part.process.env, orphans.MARK: self._mark}
        child = Child(dataclasses.replace(part.process, env=env), log=self._logs / f"{part.process.name}.log")
        part.take(child)
        self._report(part.process.name, f"started (process {child.pid})")
        self._tell(self.pids())
        return child

    def _put_off(self, part: Part, error: Exception) -> None:
        self._report(part.process.name, f"cannot be started ({error}), tried again {part.put_off()}")

    def _schedule_restart(self, part: Part, child: Child) -> None:
        child.kill_group()
        if time.monotonic() - child.started_at > RECOVERED_S:
            part.failures = 0
        how = f"ended unexpectedly ({child.how_it_ended()}), starts again {part.put_off()}; see {child.log}"
        self._report(part.process.name, how)
        if part.failures > 1:
            self._mend(part, child)
        self._tell(self.pids())

    def _mend(self, part: Part, child: Child) -> bool:
        """Put right what may have kept a part from starting, and say so; return whether there was anything."""
        try:
            words = child.mend()
        except OSError as error:
            self._report(part.process.name, f"what keeps it from starting cannot be put right: {error}")
            return False
        if words:
            self._report(part.process.name, words)
        return words != ""

    def _tell(self, pids: Mapping[str, int]) -> None:
        self._looks.take("supervisor", "cannot write down what runs", self._on_change, pids)

    def _stop_all(self) -> None:
        for tier in sorted({part.process.tier for part in self._parts}, reverse=True):
            self._stop_tier([part for part in self._parts if part.process.tier == tier])
        self._tell({})
        for part in self._parts:
            part.end()
            part.settled.set()

    def _stop_tier(self, parts: list[Part]) -> None:
        running = [(part, part.child) for part in parts if part.child is not None]
        for part, child in running:
            if child.alive:
                self._report(part.process.name, "stopping")
            child.ask_to_stop()
        begun = time.monotonic()
        for part, child in running:
            deadline = begun + part.process.stop_timeout_s
            while child.alive and time.monotonic() < deadline and not self._hurry.is_set():
                time.sleep(0.02)
            killed = child.alive
            child.finish(deadline=time.monotonic())
            if killed:
                self._report(part.process.name, "did not stop in time, killed")
