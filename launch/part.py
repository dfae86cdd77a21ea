"""A process in the supervisor's table, and what became of it."""

import math
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from launch import room
from launch.liveness import Efforts, Listener, Moment, StoppedProcesses
from launch.process import MOST_PATIENCE, Child, Process, ProcessError

# A part that has been well for so long (s) after it was killed is watched as at first.
LATELY_S = 600.0
# Seconds from a process's end to its next start, by the number of ends in a row; the last one repeats.
RESTART_DELAYS_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
MOST_LENIENCE = 8
# Who ends by itself is done by then (s); who is not waits for others, maybe for ever.
ENDS_WITHIN_S = 5.0


def restart_delay(failures: int, delays_s: tuple[float, ...] = RESTART_DELAYS_S) -> float:
    """Return the seconds to wait before the start after the `failures`-th end in a row (1, 2, ...)."""
    return delays_s[min(failures, len(delays_s)) - 1]


class Part:
    """A process in the supervisor's table, and what became of it."""

    def __init__(self, process: Process, delays_s: tuple[float, ...] = RESTART_DELAYS_S) -> None:
        self.process = process
        self._delays_s = delays_s
        self.child: Child | None = None
        self.failures = 0
        self.start_at = 0.0
        # The folder without room for it, as it ended or could not be started.
        self.lacks_room_in: Path | None = None
        self.error: ProcessError | None = None
        self.settled = threading.Event()
        self._listener = Listener(process.name, process.sign) if process.sign else None
        self._stopped = StoppedProcesses()
        self._efforts: Efforts | None = None
        # What HANG_AFTER is multiplied with: it doubles with each part that is killed soon after the last one.
        self._lenience = 1
        self._killed_at = -math.inf
        self._was_asked_to_stop = False
        self._waits_for = ""
        self._trouble = ""

    @property
    def alive(self) -> bool:
        """Say whether it runs now."""
        return self.child is not None and self.child.alive

    def take(self, child: Child) -> None:
        """Note the process that runs from now on."""
        self.child = child
        self.start_at = 0.0
        self._was_asked_to_stop = False
        self._efforts = Efforts(child.pid)
        if self._listener is not None:
            self._listener.begin_anew()

    def put_off(self) -> str:
        """Count one failure more, and return in words when it starts again: after a while, or once there is room on
        the disk if there is none now."""
        self.failures += 1
        delay_s = restart_delay(self.failures, self._delays_s)
        self.start_at = time.monotonic() + delay_s
        logs = (self.child.log.parent,) if self.child is not None else ()
        self.lacks_room_in = room.scarce_in((*logs, *self.process.writes_in))
        return f"in {delay_s:g} s{self._want_of_room}"

    @property
    def _want_of_room(self) -> str:
        """Return in words which disk is full that it writes on, as it was put off; empty if none was."""
        if self.lacks_room_in is None:
            return ""
        most = room.LEAST_BYTES // 1024**2
        bounds = f"less than {most} MiB, or {room.LEAST_FILES} files, free"
        return f"; the disk of {self.lacks_room_in} is full ({bounds}): once it is not, it starts"

    @property
    def is_waited_for(self) -> bool:
        """Say whether what comes after it in the table rests on it."""
        return self.process.once or self.process.ready is not None

    @property
    def is_due(self) -> bool:
        """Say whether it is to start again now."""
        if time.monotonic() >= self.start_at:
            return True
        return self.lacks_room_in is not None and room.is_there_again(self.lacks_room_in)

    def end(self) -> None:
        """Listen no more."""
        if self._listener is not None:
            self._listener.stop()

    def new_waits(self) -> Iterator[str]:
        """Yield in words what it waits for, or that it waits no more, if that has changed since it was asked last."""
        if self.process.waits is None:
            return
        try:
            words = self.process.waits.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            words = ""
        if words != self._waits_for:
            self._waits_for = words
            yield f"waits: {words}" if words else "waits no more"

    def new_troubles(self) -> Iterator[str]:
        """Yield in words why it cannot be told whether it lives, or that it can again, if that has changed."""
        trouble = self._listener.trouble if self._listener else ""
        if trouble != self._trouble:
            self._trouble = trouble
            yield (
                f"cannot give a sign of life, so no halt of it is noticed: {trouble}"
                if trouble
                else "can give signs of life again"
            )

    def _was_killed_lately(self) -> bool:
        return time.monotonic() - self._killed_at < LATELY_S

    def end_halts(self, groups: Mapping[int, Mapping[int, Moment]]) -> Iterator[str]:
        """Kill what of it has come to a halt, and yield in words what was killed; `groups` is by process group."""
        if self.child is None or not self.child.alive:
            return
        if not self._was_killed_lately():
            self._lenience = 1
        after_s = self.process.hang_after_s * self._lenience
        stopped = self._stopped.longer_than(groups.get(self.child.pid, {}), after_s)
        if self.child.pid in stopped:
            self.child.kill()
            yield f"was stopped for {after_s:g} s, killed"
        elif self._is_silent(self.child, after_s):
            self.child.kill()
            # It may only have been starved of the processor: whoever is killed again and again never gets anywhere.
            self._lenience = min(2 * self._lenience, MOST_LENIENCE)
            self._killed_at = time.monotonic()
            yield f"gave no sign of life for {after_s:g} s, killed"
            more_s = self.process.hang_after_s * self._lenience
            yield f"gets {more_s:g} s from now on: it may only lack processor time"
        else:
            yield from (f"its process {pid} was stopped for {after_s:g} s, killed" for pid in stopped if _kill(pid))

    def hasten_end(self) -> Iterator[str]:
        """Have it stop if it ends without having been asked to by us, and yield that in words."""
        if self._listener is None or self.child is None or not self.child.alive or self._was_asked_to_stop:
            return
        if self._listener.ending_s > ENDS_WITHIN_S:
            self._was_asked_to_stop = True
            self.child.ask_to_stop()
            yield f"shuts down, asked by another, and is not done after {ENDS_WITHIN_S:g} s: told to wait for nobody"

    def _is_silent(self, child: Child, after_s: float) -> bool:
        """Return whether it gives no sign of life; one that was not heard yet and uses the processor is starting."""
        at_first_s = self.process.ready_timeout_s
        if self._listener is None or self._efforts is None:
            return False
        idle_s = 0.0 if self._listener.has_heard else self._efforts.idle_s()
        if not self._listener.is_silent(after_s=after_s, at_first_s=at_first_s):
            return False
        has_started = self._listener.has_heard or idle_s > max(after_s, at_first_s)
        return has_started or time.monotonic() - child.started_at > MOST_PATIENCE * at_first_s


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
