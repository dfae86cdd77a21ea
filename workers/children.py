"""The processes of a worker that carry out tasks: each gives signs of its own.

One that hangs, or that grows as no honest work does, is ended alone, before the kernel ends whom it likes.

A task is no sign: who waits for the database, a program or a mail server ticks on, and who computes uses the
processor. One that does neither, or that the kernel holds, hangs, and with it all that waits behind its task.
"""

import contextlib
import logging
import mmap
import os
import signal
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from billiard import process

logger = logging.getLogger(__name__)

TICK_S = 1.0
# Whoever looked late, having been stopped itself, may not say that a child did nothing meanwhile (s).
_LONGEST_LOOK_S = 5.0
# A supervisor, which tells it on the terminal, ends those that the kernel holds a little earlier (s).
_LATER_THAN_SUPERVISOR_S = 4.0
# Held by a tracer, stopped, or in a wait of the kernel that no signal ends: proc(5).
_HELD = "tTD"
# A child's place in the memory that it shares with the worker: its process number, and how often it ticked.
_TICK = struct.Struct("=qq")
_PLACES = 1024


class _Board:
    """Memory that one worker shares with the children it forks, where each notes its ticks."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _PLACES * _TICK.size)

    def tick(self, place: int) -> None:
        """Note ticks of this process for as long as it lives; a later one at that place writes over them."""
        # The main thread's, which tasks set limits with.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        ticks, pid = 0, os.getpid()
        while True:
            ticks += 1
            _TICK.pack_into(self._memory, place, pid, ticks)
            time.sleep(TICK_S)

    def ticks_of(self, child: Any) -> int:
        """Return how often a child ticked; 0 if it has not begun."""
        pid, ticks = _TICK.unpack_from(self._memory, _place_of(child))
        return int(ticks) if pid == child.pid else 0


def _place_of(child: Any) -> int:
    """Return where on the board a child's ticks are."""
    return int(getattr(child, "index", 0)) % _PLACES * _TICK.size


@dataclass(frozen=True)
class _Thread:
    """A thread at one moment: its state, and figures that grow whenever it runs."""

    state: str
    did: tuple[str, ...]


@dataclass(frozen=True)
class _Look:
    """A child at one moment: its main thread, all its threads by number, how often it ticked, its bytes in memory."""

    main: _Thread
    threads: dict[str, _Thread]
    ticks: int
    resident: int

    def goes_on_from(self, last: "_Look") -> bool:
        """Return whether it did anything since, or had no chance to."""
        if self.main.did != last.main.did or self._lacks_processor_since(last):
            return True
        return self.main.state not in _HELD and self.ticks != last.ticks

    def _lacks_processor_since(self, last: "_Look") -> bool:
        """Return whether a thread that could run did not; one that is kept from ticking runs, to see if it may."""
        return any(
            thread.state == "R" and thread == last.threads.get(number) for number, thread in self.threads.items()
        )


@dataclass
class _Watched:
    """The last look at a child, when (monotonic) that was, and for how long (s) it has done nothing until then."""

    look: _Look
    at: float
    quiet_s: float = 0.0
    is_killed: bool = False


class Children:
    """Watches the children of a worker, which `alive` gives as objects with `pid` and `index`.

    One that hangs for `after_s`, or holds more memory than `most_bytes`, is killed: the pool puts another in its
    place, and what it was at is taken up again as that of any worker that died.
    """

    def __init__(
        self,
        alive: Callable[[], list[Any]],
        *,
        after_s: float,
        most_bytes: int,
        processes: Path = Path("/proc"),
    ) -> None:
        self._alive = alive
        self._after_s = after_s
        self._most_bytes = most_bytes
        self._processes = processes
        self._watched: dict[int, _Watched] = {}
        self._board = _Board()

    def begin_ticking(self, **_of_celery: Any) -> None:
        """Tick from now on, as one of the children: call it in the child, which was forked from this process."""
        place = _place_of(process.current_process())
        threading.Thread(target=self._board.tick, args=(place,), name="ticks", daemon=True).start()

    def watch(self) -> None:
        """Look at each, and kill those that hang for too long or hold too much."""
        now = time.monotonic()
        watched = {}
        for child in self._alive():
            look = self._look_at(child)
            if look is not None:
                watched[child.pid] = _judge(self._watched.get(child.pid), look, now)
        self._watched = watched
        for pid, child_watch in watched.items():
            if child_watch.is_killed:
                continue
            state, resident = child_watch.look.main.state, child_watch.look.resident
            if child_watch.quiet_s > self._after_s + _LATER_THAN_SUPERVISOR_S:
                _kill(pid, child_watch, f"hangs for {child_watch.quiet_s:.0f} s (state {state})")
            elif resident > self._most_bytes:
                _kill(pid, child_watch, f"holds {resident >> 20} MiB of memory, more than WORKER_MEMORY allows")

    def hung_s(self) -> float | None:
        """Return for how long (s) a child has hung, the longest of all; None if none does, as far as can be told."""
        quiet_s = max((child_watch.quiet_s for child_watch in self._watched.values()), default=0.0)
        return quiet_s if quiet_s > self._after_s / 2 else None

    def are_beyond_help(self) -> bool:
        """Return whether each hangs although it was killed: the kernel lets none end, none takes its place."""
        least_s = 2 * (self._after_s + _LATER_THAN_SUPERVISOR_S)
        return bool(self._watched) and all(child_watch.quiet_s > least_s for child_watch in self._watched.values())

    def _look_at(self, child: Any) -> _Look | None:
        """Return what a child does; None if it is none, or none any more."""
        folder = self._processes / str(child.pid) / "task"
        try:
            threads = {thread.name: _thread(thread) for thread in folder.iterdir()}
            main, fields = threads[str(child.pid)], _fields(folder.parent)
            parent, resident = int(fields[1]), int(fields[21]) * mmap.PAGESIZE
        except (OSError, ValueError, LookupError):
            # It has just ended.
            return None
        if parent != os.getpid() or main.state == "Z":
            return None
        return _Look(main, threads, self._board.ticks_of(child), resident)


def of_worker(worker: Any) -> list[Any]:
    """Return the processes that carry out tasks for a worker of Celery; none if it carries them out itself."""
    return list(getattr(getattr(worker.pool, "_pool", None), "_pool", ()))


def _judge(last: _Watched | None, look: _Look, now: float) -> _Watched:
    if last is None or look.goes_on_from(last.look):
        return _Watched(look, now)
    return _Watched(look, now, last.quiet_s + min(now - last.at, _LONGEST_LOOK_S), last.is_killed)


def _kill(pid: int, child_watch: _Watched, why: str) -> None:
    logger.warning("Process %s %s: killed", pid, why)
    child_watch.is_killed = True
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _thread(folder: Path) -> _Thread:
    """Look at a thread: the time of the processor that it used, and how often it gave that up or had to."""
    state, *rest = _fields(folder)
    switches = [line for line in (folder / "status").read_text().splitlines() if "ctxt_switches" in line]
    return _Thread(state, (*rest[10:12], *switches))


def _fields(folder: Path) -> list[str]:
    """Return state, parent and what follows of a process or thread: proc(5)."""
    return (folder / "stat").read_text().rpartition(")")[2].split()
