"""Sweeps of one TCP parameter found in the evidence."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from apps.bench import statistics
from apps.bench.rules import pace, presence
from apps.bench.rules.base import BELOW, Evidence, Point
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp.levels import DURATION, Levels, read_levels
from apps.bench.rules.tcp.scatter import Scatter, mean, read_scatter
from apps.bench.rules.told import known_or_none, names_in, rest_of
from apps.bench.sweep import setting_names

# A point whose repetitions scatter by more than this (stdev / mean) says nothing that a rule may rest on.
MOST_SCATTER = 0.15
# A sweep whose rate falls by more than this beyond its best value has no plateau.
MOST_FALL = 0.10
# Cells of one level may differ by so much where repetitions scatter so far; fewer than so many must be known better.
MOST_CHANCE, LEAST_LEVEL, MOST_ERROR = 0.04, 3, 0.35
# What is advised is surely better by this share.
SURELY = 0.01
# The control that Linux uses by itself, and what nobody chooses unless a measurement asks for it (0: as it is).
USUAL_CONTROL, HOLDING = "cubic", ("mss", "pace")


@dataclass(frozen=True)
class Cell:
    """The trials of one value of the swept parameter: {metric: {trial id: value}}."""

    value: Any
    metrics: Mapping[str, Mapping[int, float]]

    @property
    def rates(self) -> list[float]:
        """Return the goodput of each trial (bit/s)."""
        return list(self.metrics["goodput"].values())

    @cached_property
    def rate(self) -> statistics.Summary:
        """Return the summary of the goodput (bit/s)."""
        return statistics.summarise(self.rates)

    @property
    def trials(self) -> tuple[int, ...]:
        """Return the ids of the trials."""
        return tuple(sorted(self.metrics["goodput"]))

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric over the trials that gave it, or None."""
        values = self.metrics.get(metric, {}).values()
        return sum(values) / len(values) if values else None

    @property
    def is_scattered(self) -> bool:
        """Return whether the repetitions contradict each other."""
        summary = self.rate
        return summary.stdev is not None and summary.stdev > MOST_SCATTER * summary.mean


@dataclass(frozen=True)
class Sweep:
    """Cells in ascending order of one parameter, all others being equal (`fixed`)."""

    cells: tuple[Cell, ...]
    fixed: Mapping[str, Any]

    @property
    def trials(self) -> tuple[int, ...]:
        """Return the ids of all trials."""
        return tuple(sorted(trial for cell in self.cells for trial in cell.trials))

    @property
    def best(self) -> Cell:
        """Return the cell of the highest mean rate."""
        return max(self.cells, key=lambda cell: cell.rate.mean)

    def first_within(self, fraction: float) -> Cell:
        """Return the cell of the smallest value whose mean rate is within a fraction of the best."""
        threshold = (1 - fraction) * self.best.rate.mean
        return next(cell for cell in self.cells if cell.rate.mean >= threshold)


def is_tcp(point: Point) -> bool:
    """Return whether a point is of TCP connections, whichever tool made them."""
    names = names_in(point.parameters)
    return "congestion" in names or ("window" in names and point.parameters.get("protocol") == "tcp")


@read_once
def tcp_points(evidence: Evidence) -> tuple[Point, ...]:
    """Return the points of TCP measurements in which something arrived, in one trial at least, and not just a bound.

    What different experiments measured of one setting is one point, unless they surely had different rates (then the
    newest are told); trials that something passing held up, by the word of a judge, are left out.
    """
    settings: dict[tuple[str, str, str], Point] = {}
    for point in levels_of(evidence).points:
        key = (point.tool, point.statistic, repr(sorted(point.parameters.items())))
        settings[key] = _joined(settings[key], point) if key in settings else point
    return tuple(pace.undisturbed(point) for point in settings.values())


@read_once
def levels_of(evidence: Evidence) -> Levels:
    """Return the points of TCP measurements that are told, and at what other levels their settings were, too."""
    return read_levels(
        [
            point
            for point in evidence.points
            if is_tcp(point)
            and point.statistic != BELOW
            and max(pace.undisturbed(point).values("goodput"), default=0.0) > 0
        ]
    )


def _joined(first: Point, second: Point) -> Point:
    """Return two points of one setting as one, with what was observed of the later."""
    early, late = sorted((first, second), key=lambda point: point.at or 0.0)
    names = [*first.metrics, *(name for name in second.metrics if name not in first.metrics)]
    flags = sorted(first.flagged.keys() | second.flagged.keys())
    return dataclasses.replace(
        late,
        metrics={name: {**first.metrics.get(name, {}), **second.metrics.get(name, {})} for name in names},
        observed={**early.observed, **late.observed},
        warnings=first.warnings | second.warnings,
        flagged={
            name: first.flagged.get(name, frozenset()) | second.flagged.get(name, frozenset()) for name in flags
        },
    )


def find_sweeps(points: Iterable[Point], parameter: str) -> list[Sweep]:
    """Return the sweeps of a parameter: those of the most values first, then of the longest runs, the most trials."""
    groups: dict[tuple[tuple[str, Any], ...], dict[Any, dict[str, dict[int, float]]]] = {}
    fixed: dict[tuple[tuple[str, Any], ...], Mapping[str, Any]] = {}
    for point in points:
        if parameter not in point.parameters:
            continue
        conditions = tuple(sorted((name, value) for name, value in point.parameters.items() if name != parameter))
        fixed.setdefault(conditions, rest_of(point.parameters, parameter))
        cell = groups.setdefault(conditions, {}).setdefault(point.parameters[parameter], {})
        for metric, values in point.metrics.items():
            cell.setdefault(metric, {}).update(values)
    sweeps = [
        Sweep(tuple(Cell(value, cells[value]) for value in sorted(cells)), fixed[conditions])
        for conditions, cells in groups.items()
    ]
    return sorted(sweeps, key=lambda sweep: (-len(sweep.cells), -length_of(sweep), -len(sweep.trials)))


def sweeps_of(evidence: Evidence, parameter: str) -> list[Sweep]:
    """Return the sweeps of a parameter in which nodes kept their own settings, those of the most values first.

    Of equals those come first that held nothing else than what the sender does by itself, then as in `find_sweeps`.
    """
    sweeps = [sweep for sweep in find_sweeps(tcp_points(evidence), parameter) if not _has_settings(sweep)]
    own = presence.own_control(evidence)
    return sorted(sweeps, key=lambda sweep: (-len(sweep.cells), foreignness(sweep.fixed, own)))


def foreignness(fixed: Mapping[str, Any], own: str) -> tuple[bool, bool, bool]:
    """Return what puts settings last of which the sender would not choose all by itself, `own` being its control."""
    control = known_or_none(fixed, "congestion")
    is_held = any(known_or_none(fixed, name) for name in HOLDING)
    return is_held, bool(control) and control != (own or USUAL_CONTROL), bool(control)


def _has_settings(sweep: Sweep) -> bool:
    return any(setting_names.is_setting(name) for name in sweep.fixed)


def length_of(sweep: Sweep) -> float:
    """Return how long the runs of a sweep were (s), 0 where nobody tells, or where that is what was swept."""
    duration = known_or_none(sweep.fixed, DURATION)
    return float(duration) if isinstance(duration, int | float) else 0.0


def confidence_of(*reasons: tuple[bool, float], base: float) -> float:
    """Return a confidence: `base`, and what each reason that holds adds to it; at most 0.95."""
    return round(min(base + sum(weight for holds, weight in reasons if holds), 0.95), 2)


def level_of(cells: Sequence[Cell], scatter: Scatter, within: float) -> list[Cell]:
    """Return the last cells that have one rate, as far as repetitions tell; [] unless what is below is surely less.

    They lie within this share of each other, or differ by chance only; so few or so scattered that a step of twice
    the rate could hide among them they are no level.
    """
    level: list[Cell] = []
    for cell in reversed(cells):
        rates = [rate for item in level for rate in item.rates]
        apart = abs(math.log(cell.rate.mean / mean(rates))) if rates else 0.0
        if apart > within and (apart > MOST_CHANCE or scatter.is_less(cell.rates, rates)):
            break
        level.insert(0, cell)
    below = [cell for cell in cells if cell.value < level[0].value] if level else []
    if len(level) < 2 or (len(level) < LEAST_LEVEL and scatter.error(level[0].rates, level[-1].rates) > MOST_ERROR):
        return []
    if statistics.still_rises([cell.rates for cell in level]):
        return []
    rates = [rate for cell in level for rate in cell.rates]
    # What gave less than a smaller one was held up: nobody knows where the level begins.
    if len(below) > 1 and max(cell.rate.mean for cell in below[:-1]) > (1 + MOST_FALL) * below[-1].rate.mean:
        return []
    return level if not below or scatter.is_less(below[-1].rates, rates) else []


@read_once
def scatter_of(evidence: Evidence) -> Scatter:
    """Return how far repetitions of TCP's settings scatter on a path."""
    return read_scatter(point.values("goodput") for point in tcp_points(evidence))


def how_of(point: Point | None) -> str:
    """Return over how many streams a point of TCP was measured, as it stands behind a rate: " (streams = 4)"."""
    streams = point.parameters.get("streams") if point is not None and is_tcp(point) else None
    return f" (streams = {streams})" if streams else ""
