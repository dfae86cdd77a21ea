"""What set the pace of a figure, as far as judges saw: only one that nothing at the ends held tells of the path."""

import dataclasses
from collections.abc import Collection, Mapping

from apps.bench.rules.base import Point
from apps.bench.rules.told import known_or_none
from apps.bench.toolkit import doubts

# Flags by which something else than the path set the pace: a processor, the sender, the receiver, or a pause.
ENDS = doubts.HELD | {
    "processor-full",
    "cpu-busy",
    "sender-too-slow",
    "receive-buffer-full",
    "stalled",
    "threads-idle",
}
# What disturbed a run, and may have passed: an end at its limit, or a rate that did not stay the same.
NOT_STEADY = "not-steady"
DISTURBED = ENDS | {NOT_STEADY}
# What makes a figure no measure of what was asked: it was disturbed, not measured by all at once, or clocked badly.
DOUBTED = DISTURBED | doubts.DOUBTED | {
    "low-overlap", "late-start", "common-window", "clock-unsure", "clock-off", "coarse-time", "restarted", "short",
    "suspect-foreign-traffic", "suspect-rtt", "suspect-route", "suspect-loss", "cached-read", "cached-write",
}  # fmt: skip
# What may have come from the servers' memory, not from their disks.
OF_SERVER = frozenset({doubts.CACHED_BY_SERVER})
# What may have come from the memory of the machine that measured.
CACHED = frozenset({"cached-read", "cached-write"})
# What trials that were left out of a point are noted as among its flags.
LEFT_OUT = "left-out"
# The loads (%) of the two ends' processors; from so much on one is busy all the time. What judges call that, and what
# no load of a single processor exceeds.
PROCESSORS, BUSY_LOAD, BUSY_FLAG, ONE_PROCESSOR = ("cpu_local", "cpu_remote"), 90, "cpu-busy", 110
# Trials without a flag are better than those with it by more than this where the flag is of a passing disturbance.
PASSING = 1.05


def flags_of(point: Point) -> frozenset[str]:
    """Return the flags of a point by which its ends set the pace; none means that nobody saw such a thing.

    A processor's load says it of a row of a table as a judge's flag does of a run.
    """
    flags = ENDS & point.warnings
    return flags | {BUSY_FLAG} if busy_load(point) is not None else flags


def busy_load(point: Point) -> float | None:
    """Return the mean load (%) of the busier end's processor where it was busy all the time, None where none was.

    Loads far above that of one processor are of a program with a thread for each stream: each must be busy then.
    """
    means = [sum(values) / len(values) for name in PROCESSORS if (values := point.values(name))]
    load = max(means, default=0.0)
    streams = known_or_none(point.parameters, "streams") or 1
    return load if load >= BUSY_LOAD * (streams if load > ONE_PROCESSOR else 1) else None


def _flagged(point: Point, names: Collection[str], metric: str) -> list[frozenset[int]]:
    """Return the trials of each flag of these names that bears on a metric."""
    return [
        trials
        for name, trials in point.flagged.items()
        if name in names and metric in point.bears.get(name, (metric,))
    ]


def is_of_server(point: Point, metric: str) -> bool:
    """Return whether the memory of the servers may have given some of a metric's values."""
    return any({*trials} & {*point.metrics.get(metric, ())} for trials in _flagged(point, OF_SERVER, metric))


def is_lone(point: Point, metric: str) -> bool:
    """Return whether one trial is all that was left of a point when disturbed ones were left out."""
    return LEFT_OUT in point.flagged and len(point.values(metric)) < 2


def undoubted(point: Point, metric: str) -> list[float]:
    """Return the values of a metric that no judge doubted: what blames anything rests on these alone."""
    doubted = frozenset().union(*_flagged(point, DOUBTED, metric))
    unknown = DOUBTED & point.warnings - point.flagged.keys()
    return [value for trial, value in point.metrics.get(metric, {}).items() if trial not in doubted and not unknown]


def undisturbed(point: Point, metric: str = "goodput") -> Point:
    """Return a point without the trials that something passing held up, and without their flags.

    A flag is of the setting itself, and stays, where no trial is free of it or those that are hardly do better.
    """
    flagged = _flagged(point, DISTURBED, metric)
    values = point.metrics.get(metric, {})
    held_trials = frozenset().union(*flagged) & ({*values} - {*free_of(values, frozenset().union(*flagged))})
    if not held_trials:
        return point
    metrics = {
        name: {trial: value for trial, value in own.items() if trial not in held_trials}
        for name, own in point.metrics.items()
    }
    return dataclasses.replace(
        point,
        metrics={name: own for name, own in metrics.items() if own},
        warnings=point.warnings - frozenset(name for name in point.flagged if name in DISTURBED),
        flagged={name: trials for name, trials in point.flagged.items() if name not in DISTURBED}
        | {LEFT_OUT: held_trials},
    )


def uncached(point: Point, metric: str) -> Point | None:
    """Return a point without the trials that a cache may have served; None if none is left."""
    cached = frozenset().union(*_flagged(point, CACHED, metric))
    values = point.metrics.get(metric, {})
    if not cached & values.keys():
        return point
    left = {trial: value for trial, value in values.items() if trial not in cached}
    return dataclasses.replace(point, metrics={**point.metrics, metric: left}) if left else None


def free_of(values: Mapping[int, float], held_trials: Collection[int]) -> Mapping[int, float]:
    """Return {trial: value} of a setting without those held up by something passing; all where none is free of it."""
    free = {trial: value for trial, value in values.items() if trial not in held_trials}
    slow = [value for trial, value in values.items() if trial in held_trials]
    is_passing = bool(free and slow) and sum(free.values()) / len(free) >= PASSING * sum(slow) / len(slow)
    return free if is_passing else values
