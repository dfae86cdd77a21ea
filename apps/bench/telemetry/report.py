"""The form in which agents send what they read, and how much of it is believed."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.bench.telemetry.sockets import SocketListing, read_sockets

Columns = Mapping[str, tuple[float, ...]]
VERSION = 1
MOST_MOMENTS = 5000
MOST_DEVICES = 16
MOST_NAME = 32
# Agents send 60 listings of 32 KiB at most. A web process reads them: what stands beyond is left out.
MOST_LISTED = 2**21


@dataclass(frozen=True)
class Telemetry:
    """What the kernel said at `times` (s from the start of the job's process, the first before it, the last after).

    `cpu` (ms of all processors together), `tcp`, `udp`, `nic` and `disks` (bytes, pieces; `busy` in ms) are the
    growth of counters since the first moment; `memory` is in bytes, `core` the load (%) of the busiest processor
    until each moment. `own` (bytes) is what the job's programs read and wrote in system calls, last known shortly
    before their end. `ended` is when the process did.
    """

    times: tuple[float, ...]
    ended: float
    processors: int = 0
    interface: str = ""
    cpu: Columns = field(default_factory=dict)
    core: tuple[float, ...] = ()
    memory: Columns = field(default_factory=dict)
    tcp: Columns = field(default_factory=dict)
    udp: Columns = field(default_factory=dict)
    nic: Columns = field(default_factory=dict)
    disks: Mapping[str, Columns] = field(default_factory=dict)
    own: Columns = field(default_factory=dict)
    listings: tuple[SocketListing, ...] = ()

    def growth(self, column: Sequence[float] | None) -> float | None:
        """Return by how much a counter grew from before the job until after it; None without the counter."""
        return max(0.0, column[-1] - column[0]) if column else None

    @property
    def duration(self) -> float:
        """Return the time (s) between the first moment and the last."""
        return self.times[-1] - self.times[0]


def read(raw: Mapping[str, Any]) -> Telemetry | None:
    """Return what an agent sent, None if it sent nothing of the kind; what is damaged in it is left out."""
    times = _column(raw.get("times"), None)
    if raw.get("v") != VERSION or not 2 <= len(times) <= MOST_MOMENTS:
        return None
    if any(later < earlier for earlier, later in itertools.pairwise(times)) or times[-1] <= times[0]:
        return None
    count = len(times)
    disks = raw.get("disks")
    named_columns = [(_name(key), value) for key, value in disks.items()] if isinstance(disks, dict) else []
    processors = raw.get("processors")
    return Telemetry(
        times=times,
        ended=_number(raw.get("ended"), times[-1]),
        processors=processors if isinstance(processors, int) and 0 <= processors < 10**6 else 0,
        interface=_name(raw.get("interface")),
        core=_column(raw.get("core"), count),
        disks={
            name: columns
            for name, value in named_columns[:MOST_DEVICES]
            if name and (columns := _columns(value, count))
        },
        listings=tuple(_listings(raw.get("sockets"))),
        **{name: _columns(raw.get(name), count) for name in ("cpu", "memory", "tcp", "udp", "nic", "own")},
    )


def _listings(raw: object) -> list[SocketListing]:
    listings: list[SocketListing] = []
    room = MOST_LISTED
    for entry in raw[:MOST_MOMENTS] if isinstance(raw, list) else []:
        if isinstance(entry, dict) and _is_number(entry.get("at")) and isinstance(entry.get("text"), str):
            room -= len(entry["text"])
            if room < 0:
                break
            left_out = entry.get("left_out")
            more = left_out if isinstance(left_out, int) and 0 <= left_out < 10**6 else 0
            listings.append(SocketListing(float(entry["at"]), read_sockets(entry["text"]), int(more)))
    return listings


def _columns(raw: object, count: int) -> dict[str, tuple[float, ...]]:
    if not isinstance(raw, dict):
        return {}
    return {name: column for key, value in raw.items() if (column := _column(value, count)) and (name := _name(key))}


def _column(raw: object, count: int | None) -> tuple[float, ...]:
    """Return a list of numbers, of `count` unless that is None; () for anything else."""
    if not isinstance(raw, list) or (count is not None and len(raw) != count) or not all(map(_is_number, raw)):
        return ()
    return tuple(raw)


def _name(raw: object) -> str:
    return raw[:MOST_NAME] if isinstance(raw, str) and raw.isprintable() else ""


def _number(value: Any, otherwise: float) -> float:
    return float(value) if _is_number(value) else otherwise


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18 and math.isfinite(value)
    )
