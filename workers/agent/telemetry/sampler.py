"""One thread reads the kernel for all jobs that run; a recording keeps of it what belongs to one of them."""

from __future__ import annotations

import base64
import itertools
import json
import logging
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import steady
from . import kernel
from .interfaces import interface_of
from .kernel import Snapshot
from .sockets import Lister, tree_of

logger = logging.getLogger(__name__)

VERSION = 1
EVERY_S = 1.0
# A reading this young (s) serves the next job's beginning as well.
FRESH_S = 0.1
# When there are more, every other one is dropped and from then on only every other one is kept.
MOST_SNAPSHOTS = 240
MOST_LISTINGS = 60
MOST_DISKS = 4


class Thinned:
    """A list that grows to `most` members at most, evenly spread over the time in which it was filled."""

    def __init__(self, most: int) -> None:
        self.kept: list[Any] = []
        self._most, self._stride, self._seen = most, 1, 0

    def add(self, item: Any) -> None:
        """Keep an item, or let it go."""
        if self._seen % self._stride == 0:
            if len(self.kept) >= self._most:
                del self.kept[1::2]
                self._stride *= 2
            if self._seen % self._stride == 0:
                self.kept.append(item)
        self._seen += 1


class Recording:
    """What the kernel said around one job; `first` was read before its process was started."""

    def __init__(self, first: Snapshot, end: Callable[[Recording], None]) -> None:
        self.pid = 0
        self._first = first
        self._began = first.at
        self._snapshots, self._listings = Thinned(MOST_SNAPSHOTS), Thinned(MOST_LISTINGS)
        self._end = end

    def begin(self, pid: int, started_at: float) -> None:
        """Note that the job's process runs since `started_at` (s since the epoch)."""
        self._began, self.pid = started_at, pid

    def add(self, snapshot: Snapshot, listing: tuple[str, int] | None, own: Mapping[str, int]) -> None:
        """Take in what was read while the job ran: of the machine, and of the job's `own` processes."""
        self._snapshots.add((snapshot, own))
        if listing:
            self._listings.add((snapshot.at, *listing))

    def drop(self) -> None:
        """Read no more for this job."""
        self._end(self)

    def end(self, address: str, ended_at: float) -> str:
        """Return all of it as JSON, compressed as outputs are; `address` is the node's on the data plane."""
        self.drop()
        # A process that is gone tells no more: its last figures stand.
        owns = [{}, *(own for _snapshot, own in self._snapshots.kept)]
        snapshots = [self._first, *(snapshot for snapshot, _own in self._snapshots.kept), kernel.read()]
        data = {**self._as_json(snapshots, address, ended_at), "own": _totals([*owns, owns[-1]])}
        return base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 3)).decode("ascii")

    def _as_json(self, snapshots: Sequence[Snapshot], address: str, ended_at: float) -> dict[str, Any]:
        """Return times (s from the process's start), and counters as their growth since the first reading."""
        first, last = snapshots[0], snapshots[-1]
        nic = interface_of(address)
        disks = sorted(last.disks, key=lambda name: -_growth(first.disks, last.disks, name))[:MOST_DISKS]
        return {
            "v": VERSION,
            "times": [round(snapshot.at - self._began, 3) for snapshot in snapshots],
            "ended": round(ended_at - self._began, 3),
            "processors": len(first.cores),
            "cpu": _columns([snapshot.cpu for snapshot in snapshots]),
            "core": _busiest(snapshots),
            "memory": {name: [snapshot.memory.get(name, 0) for snapshot in snapshots] for name in first.memory},
            "tcp": _columns([snapshot.tcp for snapshot in snapshots]),
            "udp": _columns([snapshot.udp for snapshot in snapshots]),
            "interface": nic,
            "nic": _columns([snapshot.nics.get(nic, {}) for snapshot in snapshots]),
            "disks": {
                name: _columns([snapshot.disks.get(name, {}) for snapshot in snapshots])
                for name in disks
                if _growth(first.disks, last.disks, name)
            },
            "sockets": [
                {"at": round(at - self._began, 3), "text": text, "left_out": left_out}
                for at, text, left_out in self._listings.kept
            ],
        }


class Sampler(threading.Thread):
    """Reads while there is a job to read for, and sleeps otherwise."""

    def __init__(self) -> None:
        super().__init__(name="telemetry", daemon=True)
        self._condition = threading.Condition()
        self._recordings: list[Recording] = []
        self._last: Snapshot | None = None
        self._lister = Lister()

    def record(self) -> Recording:
        """Return the recording of a job that is about to start."""
        last = self._last
        if last is None or not 0 <= steady.now() - last.at <= FRESH_S:
            self._last = last = kernel.read()
        recording = Recording(last, self._forget)
        with self._condition:
            self._recordings.append(recording)
            self._condition.notify_all()
        return recording

    def run(self) -> None:
        """Read each second for as long as the agent lives."""
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._recordings)
            due = time.monotonic() + EVERY_S
            while self._recordings:
                time.sleep(max(0.0, due - time.monotonic()))
                due = max(due + EVERY_S, time.monotonic())
                try:
                    self._read()
                except Exception:
                    # A job does not fail because nobody could watch it.
                    logger.exception("The kernel's counters could not be read")

    def _read(self) -> None:
        with self._condition:
            running = [recording for recording in self._recordings if recording.pid]
        if not running:
            return
        self._last = snapshot = kernel.read()
        listings = self._lister.list(recording.pid for recording in running)
        for recording in running:
            own = kernel.own_of(tree_of(recording.pid))
            recording.add(snapshot, listings.get(recording.pid), own)

    def _forget(self, recording: Recording) -> None:
        with self._condition:
            if recording in self._recordings:
                self._recordings.remove(recording)


def _columns(rows: Sequence[Any]) -> dict[str, list[int]]:
    """Return {name: growth since the first row}; a row without the name (a device that went) grows nothing."""
    first = rows[0]
    return {name: [row.get(name, base) - base for row in rows] for name, base in first.items()}


def _totals(rows: Sequence[Mapping[str, int]]) -> dict[str, list[int]]:
    """Return {name: what had been moved by each moment}: nothing before the first, and never less than before."""
    return {
        name: list(itertools.accumulate((row.get(name, 0) for row in rows), max))
        for name in dict.fromkeys(name for row in rows for name in row)
    }


def _busiest(snapshots: Sequence[Snapshot]) -> list[int]:
    """Return the share of time (%) in which the busiest processor was busy before each reading, the first aside."""
    shares = [0]
    for before, after in zip(snapshots, snapshots[1:]):  # noqa: B905, RUF007 - Python 3.9 knows neither
        gains = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(before.cores, after.cores)]  # noqa: B905
        shares.append(max((round(100 * busy / whole) for busy, whole in gains if whole > 0), default=0))
    return shares


def _growth(first: Any, last: Any, name: str) -> int:
    if name not in first or name not in last:
        return 0
    return sum(last[name][key] - first[name][key] for key in ("read", "written"))
