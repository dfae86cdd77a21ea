"""Sweeps of one TCP parameter found in the evidence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench import statistics
from apps.bench.rules.base import BELOW, Evidence, Point

# A point whose repetitions scatter by more than this (stdev / mean) says nothing that a rule may rest on.
MOST_SCATTER = 0.15
# A sweep whose rate falls by more than this beyond its best value has no plateau.
MOST_FALL = 0.10


@dataclass(frozen=True)
class Cell:
    """The trials of one value of the swept parameter: {metric: {trial id: value}}."""

    value: Any
    metrics: Mapping[str, Mapping[int, float]]

    @property
    def rates(self) -> list[float]:
        """Return the goodput of each trial (bit/s)."""
        return list(self.metrics["goodput"].values())

    @property
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
        least = (1 - fraction) * self.best.rate.mean
        return next(cell for cell in self.cells if cell.rate.mean >= least)


def is_tcp(point: Point) -> bool:
    """Return whether a point is of TCP connections, whichever tool made them."""
    parameters = point.parameters
    return "congestion" in parameters or ("window" in parameters and parameters.get("protocol") == "tcp")


def tcp_points(evidence: Evidence) -> list[Point]:
    """Return the points of TCP measurements that have a goodput above zero in each trial, and not just a bound."""
    return [
        point
        for point in evidence.points
        if is_tcp(point) and point.statistic != BELOW and point.values("goodput") and min(point.values("goodput")) > 0
    ]


def find_sweeps(points: Iterable[Point], parameter: str) -> list[Sweep]:
    """Return the sweeps of a parameter, those of the most values first, then of the most trials."""
    groups: dict[tuple[tuple[str, Any], ...], dict[Any, dict[str, dict[int, float]]]] = {}
    for point in points:
        if parameter not in point.parameters:
            continue
        rest = tuple(sorted((name, value) for name, value in point.parameters.items() if name != parameter))
        cell = groups.setdefault(rest, {}).setdefault(point.parameters[parameter], {})
        for metric, values in point.metrics.items():
            cell.setdefault(metric, {}).update(values)
    sweeps = [
        Sweep(tuple(Cell(value, cells[value]) for value in sorted(cells)), dict(rest))
        for rest, cells in groups.items()
    ]
    return sorted(sweeps, key=lambda sweep: (-len(sweep.cells), -len(sweep.trials)))


def confidence_of(*reasons: tuple[bool, float], base: float) -> float:
    """Return a confidence: `base`, and what each reason that holds adds to it; at most 0.95."""
    return round(min(base + sum(weight for holds, weight in reasons if holds), 0.95), 2)


def predicted_interval(cell: Cell) -> tuple[float, float]:
    """Return the 95 % interval of a cell's mean rate; of a single trial 5 % to either side, which is a habit."""
    summary = cell.rate
    if summary.ci_low is None or summary.ci_high is None:
        return 0.95 * summary.mean, 1.05 * summary.mean
    return max(summary.ci_low, 0.0), summary.ci_high
