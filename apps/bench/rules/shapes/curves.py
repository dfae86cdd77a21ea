"""A metric over the values of one factor, all else being equal."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.bench import statistics
from apps.bench.rules.base import ABOUT, SAMPLE, Evidence, Point
from apps.bench.rules.shapes.names import CLIENTS, FILE_SYSTEM, described, factors_behind, frozen, nodes_of, order

# Repetitions that scatter by more than this (stdev / mean) say nothing of a trend.
SCATTER = 0.15
# From so many degrees of freedom on a trend must be surer than chance: this many errors of a difference of means.
LEAST_FREE, RANGE = 3, 3.5

Cells = dict[Any, dict[int, float]]


@dataclass(frozen=True)
class Curve:
    """A metric over the values of one factor, all else being equal: {value: {trial id: value of the metric}}."""

    tool: str
    metric: str
    factor: str
    cells: Mapping[Any, Mapping[int, float]]
    layer: str = ""
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file_system: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def means(self) -> dict[Any, float]:
        """Return the mean at each value, in the order of the values."""
        return {x: math.fsum(cell.values()) / len(cell) for x, cell in self.cells.items()}

    @property
    def trials(self) -> tuple[int, ...]:
        """Return the ids of all trials."""
        return tuple(sorted({trial for cell in self.cells.values() for trial in cell}))

    @property
    def is_scattered(self) -> bool:
        """Return whether the repetitions at some value contradict each other."""
        summaries = [statistics.summarise(list(cell.values())) for cell in self.cells.values()]
        return any(summary.cv is not None and summary.cv > SCATTER for summary in summaries)

    @property
    def is_chance(self) -> bool:
        """Return whether the means lie no further apart than the repetitions' scatter makes them.

        By the studentised range (Tukey, 1949), whose 95 % quantile is about 3.5 sqrt(2) for three to eight means of
        three or four values; where nothing was repeated nothing can be said.
        """
        groups = [list(cell.values()) for cell in self.cells.values()]
        free = sum(len(group) - 1 for group in groups)
        if free < LEAST_FREE:
            return False
        means = self.means.values()
        squares = math.fsum((value - mean) ** 2 for group, mean in zip(groups, means, strict=True) for value in group)
        error = math.sqrt(squares / free / min(map(len, groups)))
        return max(means) - min(means) < RANGE * math.sqrt(2) * error


def curves(evidence: Evidence, *, factor: str) -> list[Curve]:
    """Return the curves of every metric over a factor, of two values or more; those of most values first.

    Points printed as bounds or as one of several modes are in none.
    """
    own = factors_behind(factor)
    groups: dict[Any, tuple[Point, dict[str, Any], dict[str, Cells]]] = {}
    for point in evidence.points:
        if point.statistic not in (SAMPLE, ABOUT):
            continue
        known = described(point, evidence)
        value = known.get(factor)
        if value is None:
            continue
        fixed = {name: item for name, item in known.items() if name not in own}
        key = (point.tool, point.layer, _cast(point, factor), frozen(fixed))
        _point, _fixed, metrics = groups.setdefault(key, (point, fixed, {}))
        for name, values in point.metrics.items():
            metrics.setdefault(name, {}).setdefault(value, {}).update(values)
    found = [
        Curve(
            tool=point.tool,
            metric=metric,
            factor=factor,
            cells={value: cells[value] for value in sorted(cells, key=order)},
            layer=point.layer,
            roles=point.roles,
            file_system=str(fixed.get(FILE_SYSTEM, "")),
            fixed=fixed,
        )
        for point, fixed, metrics in groups.values()
        for metric, cells in metrics.items()
        if len(cells) > 1
    ]
    return sorted(found, key=lambda curve: (-len(curve.cells), -len(curve.trials)))


def _cast(point: Point, factor: str) -> Any:
    """Return who measured; where their number is the factor and no parameter, those that have the first in common."""
    if factor != CLIENTS or point.parameters.get(CLIENTS):
        return frozen(point.roles)
    return min(nodes_of(point), default="")
