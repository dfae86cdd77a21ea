"""What a measurement asked of the disks beneath: what these gave stands beside what was asked of them alike only."""

from collections.abc import Mapping
from typing import Any

from apps.bench.rules.base import Point
from apps.bench.rules.layers.questions import READ, WRITE
from apps.bench.rules.shapes import CLIENTS, RECORD, THREADS
from apps.bench.rules.shapes.apart import declared, setting_of
from apps.bench.rules.shapes.names import canonical, is_number
from apps.bench.rules.told import names_in
from apps.bench.sweep.likeness import AS_IN

FILE, SYNC, DIRECT, DEPTH, SEGMENTS = "file_size", "sync", "direct", "depth", "segments"
# What else tools name in their own way that others have as well, and what is so of one that has no setting for it.
_NAMES = {("fio", "sync_every"): SYNC, ("ior", "block_size"): FILE}
_ALWAYS: Mapping[str, Mapping[str, Any]] = {
    "iozone": {DEPTH: 1, "fsync": True},
    "ior": {DEPTH: 1, SYNC: 0},
}
# What bears on one way only.
_OF_ONE_WAY = {SYNC: WRITE, "fsync": WRITE, "drop_cache": READ}
# What asks nothing else of a disk: how many tasks there are (compared by itself), how long they run, what is measured
# beside, whose files are read, and how ranks are started. The pattern is that of the question.
NOT_ASKED = frozenset(
    (
        *(AS_IN, CLIENTS, THREADS, "ranks", "pattern", "read_share", "duration", "ramp", "iterations"),
        *("read", "random", "backward", "strided", "stride", "retest", "verify", "neighbour", "reorder"),
        *("launcher", "transport", "oversubscribe", "node_placement", "core_placement"),
    )
)
# Files within this factor of each other are as large.
AS_LARGE = 2
# Disks are described by what they give of records as large as this, one behind the other.
LARGE_RECORD = 2**20


def asked_of(point: Point, metric: str) -> dict[str, Any]:
    """Return {name that all tools share: value} of what was asked of disks; None is not known."""
    own = declared(point.tool)
    asked = dict(_ALWAYS.get(point.tool, {}))
    for name in {**own, **dict.fromkeys(names_in(point.parameters))}:
        shared, parameter = _shared(point.tool, name), own.get(name)
        is_asked = shared not in NOT_ASKED and not (parameter and parameter.aside)
        if is_asked and _OF_ONE_WAY.get(shared, metric) == metric:
            asked[shared] = setting_of(point, name, parameter)
    if asked.get(FILE) and asked.get(SEGMENTS):
        asked[FILE] *= asked[SEGMENTS]
    return asked


def unlike(own: Point, other: Point, metric: str) -> dict[str, Any]:
    """Return {name: value} of what a measurement asked and another did not, in the terms of its tool; {} if alike.

    What is not known of either, or the other's tool does not have, tells nothing.
    """
    one, beside = asked_of(own, metric), asked_of(other, metric)
    differing = [name for name in one if name in beside and not _is_same(name, one[name], beside[name])]
    terms = {_shared(own.tool, name): name for name in declared(own.tool)}
    return {terms.get(name, name): one[name] for name in differing}


def is_large(point: Point, metric: str) -> bool:
    """Return whether what was asked is what disks are described by: large records, none of which waits for the disk.

    Records that go through a cache are joined there.
    """
    asked = asked_of(point, metric)
    return not asked.get(SYNC) and not (asked.get(DIRECT) and (asked.get(RECORD) or LARGE_RECORD) < LARGE_RECORD)


def settings_alike(point: Point, metric: str, tool: str) -> dict[str, Any]:
    """Return the settings with which a tool asks what a point did, but for its defaults, as far as it has them."""
    asked = asked_of(point, metric)
    return {
        name: bool(value) if parameter.kind == "boolean" else value
        for name, parameter in declared(tool).items()
        if (value := asked.get(_shared(tool, name))) not in (None, parameter.default)
    }


def _shared(tool: str, name: str) -> str:
    return _NAMES.get((tool, name)) or canonical(tool, name)


def _is_same(name: str, one: Any, other: Any) -> bool:
    if one is None or other is None:
        return True
    if name == FILE and is_number(one) and is_number(other):
        return bool(max(one, other) <= AS_LARGE * min(one, other))
    return bool(one == other)
