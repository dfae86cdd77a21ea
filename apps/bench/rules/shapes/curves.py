"""A metric over the values of one factor, all else being equal."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from apps.bench import statistics
from apps.bench.rules import pace
from apps.bench.rules.base import ABOUT, DISK, NETWORK, SAMPLE, Evidence, Point
from apps.bench.rules.base import FILE_SYSTEM as FILES
from apps.bench.rules.readings import read_once
from apps.bench.rules.shapes.apart import settings_apart
from apps.bench.rules.shapes.families import Corrections, Look, corrections_of, quantile_of
from apps.bench.rules.shapes.names import (
    CLIENTS,
    FILE_SYSTEM,
    THREADS,
    canonical,
    described,
    factors_behind,
    frozen,
    nodes_of,
    order,
)
from apps.bench.rules.tcp.scatter import Scatter
from apps.bench.statistics import bounds

# Repetitions that scatter by more than this (stdev / mean) say nothing of a trend.
SCATTER = 0.15
# unless there are so many that the means are known to within this share of the best.
KNOWN = 0.04
# From so many degrees of freedom on a trend must be surer than chance: this many errors of a difference of means.
LEAST_FREE, RANGE = 3, 3.5
# Figures that nobody repeated (enough) differ by this share of the best before that tells anything; two of them, by
# chance the best and the worst of a scatter, by more.
ONCE, ONCE_OF_TWO = 0.20, 0.35

Cells = dict[Any, dict[int, float]]
# Processes that exchange messages keep their processors busy while they wait: there it says nothing.
BUSY_IS_FULL = (NETWORK, DISK, FILES)


@dataclass(frozen=True)
class Curve:
    """A metric over the values of one factor, all else being equal: {value: {trial id: value of the metric}}.

    `held_values` are the values at which a judge saw an end set the pace: a plateau of those is that end's.
    `of_memory` are those at which the servers' memory may have given some figures. `is_one_each` says that each
    client had one process. `kind` is the mean that stands for its figures. A difference is told where it holds with
    as many curves as were `looked` at, by the `scatter` of all of them (None: it was the only one). `apart` {name:
    value} are the settings that tell its points from others of the metric.
    """

    tool: str
    metric: str
    factor: str
    cells: Mapping[Any, Mapping[int, float]]
    layer: str = ""
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file_system: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    held_values: frozenset[Any] = frozenset()
    of_memory: frozenset[Any] = frozenset()
    is_one_each: bool = False
    kind: statistics.Mean = statistics.Mean.ARITHMETIC
    looked: int = 1
    scatter: Scatter | None = None
    apart: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def means(self) -> dict[Any, float]:
        """Return what stands for the figures at each value, in the order of the values."""
        return {x: self.mean_of([*cell.values()]) for x, cell in self.cells.items()}

    def mean_of(self, values: Sequence[float]) -> float:
        """Return what stands for figures of the metric."""
        return statistics.middle_of(values, self.kind)

    @property
    def trials(self) -> tuple[int, ...]:
        """Return the ids of all trials."""
        return tuple(sorted({trial for cell in self.cells.values() for trial in cell}))

    @property
    def is_scattered(self) -> bool:
        """Return whether the repetitions at some value contradict each other, and are too few to make up for it."""
        top = max(self.means.values())
        if self.error is not None and self.error <= KNOWN * top:
            return False
        summaries = [statistics.summarise(list(cell.values())) for cell in self.cells.values()]
        return any(summary.cv is not None and summary.cv > SCATTER for summary in summaries)

    @property
    def error(self) -> float | None:
        """Return the error of the means by the repetitions' scatter, None where too few were repeated to tell."""
        groups = [list(cell.values()) for cell in self.cells.values()]
        free = sum(len(group) - 1 for group in groups)
        if free < LEAST_FREE:
            return None
        means = self.means.values()
        squares = math.fsum((value - mean) ** 2 for group, mean in zip(groups, means, strict=True) for value in group)
        return math.sqrt(squares / free / min(map(len, groups)))

    @property
    def is_chance(self) -> bool:
        """Return whether the means lie no further apart than the repetitions' scatter makes them.

        Where nothing was repeated nothing can be said.
        """
        means = self.means.values()
        return self.error is not None and max(means) - min(means) < self.chance

    @property
    def chance(self) -> float:
        """Return by how much (in the metric's unit) the best and the worst mean may differ by chance.

        Of any of the curves looked at, not of this one alone.
        """
        if self.looked < 2 or self.scatter is None:
            return self.chance_alone
        wider = quantile_of(self.scatter, self.looked) / quantile_of(self.scatter)
        top, error = max(self.means.values()), self.error
        if error is None:
            return (1 - (1 - self.chance_alone / top) ** wider) * top if top > 0 else 0.0
        pooled = self.scatter.share * top / math.sqrt(min(map(len, self.cells.values())))
        return RANGE * math.sqrt(2) * max(error, pooled) * wider

    @property
    def chance_alone(self) -> float:
        """Return the same of a curve that is the only one looked at: so far apart its means may be one.

        By the studentised range (Tukey, 1949), whose 95 % quantile is about 3.5 sqrt(2) for three to eight means of
        three or four values; of figures that nobody repeated by what such figures usually scatter.
        """
        error = self.error
        if error is not None:
            return RANGE * math.sqrt(2) * error
        return (ONCE if len(self.cells) > 2 else ONCE_OF_TWO) * max(self.means.values())


def interval_at(curve: Curve, value: Any, ceiling: float | None = None) -> tuple[float, float]:
    """Return what the mean at a value may really be: its interval as tables have it, cut at what can be.

    `ceiling` is what nothing exceeds, in the metric's unit. A lone figure, and figures that are all equal, are off as
    far as such figures usually are, or as those at the other values scatter.
    """
    figures = [*curve.cells[value].values()]
    interval = statistics.summarise(figures, curve.kind).interval
    if interval and interval.method is not statistics.Method.EQUAL:
        low, high = interval.low, interval.high
    else:
        mean, error = curve.means[value], curve.error
        off = ONCE if error is None else 2 * error / max(curve.means.values())
        off = min(off, ONCE) if interval else ONCE
        low, high = mean * (1 - off), mean / (1 - off)
    ends = bounds.clipped(max(low, 0.0), high, "", figures, ceiling)
    return ends.low or 0.0, ends.high or high


@read_once
def curves(evidence: Evidence, *, factor: str) -> tuple[Curve, ...]:
    """Return the curves of every metric over a factor, of two values or more; those of most values first.

    Points printed as bounds or as one of several modes are in none. Each knows how many others of its metric were
    looked at, over whatever factor.
    """
    corrections = _corrections(evidence)
    return tuple(
        replace(curve, looked=correction.looked, scatter=correction.scatter)
        if (correction := corrections.get((look.family, look.trials)))
        else curve
        for curve in _curves(evidence, factor)
        for look in (_look_at(curve),)
    )


@read_once
def _corrections(evidence: Evidence) -> Corrections:
    """Return the corrections of all curves of the evidence, over each factor that varies."""
    varied: dict[str, set[str]] = {}
    for _point, parameters in _settings(evidence):
        for name, value in parameters.items():
            varied.setdefault(name, set()).add(repr(value))
    names = [name for name, values in varied.items() if len(values) > 1]
    return corrections_of([_look_at(curve) for name in names for curve in _curves(evidence, name)])


@read_once
def _settings(evidence: Evidence) -> tuple[tuple[Point, Mapping[str, Any]], ...]:
    """Return each point with its parameters under the names that all tools share."""
    return tuple((point, described(point, evidence)) for point in evidence.points)


def _look_at(curve: Curve) -> Look:
    family = (curve.tool, curve.layer, curve.metric, curve.file_system, frozen(curve.roles))
    return Look(family, curve.cells, curve.means)


@read_once
def _curves(evidence: Evidence, factor: str) -> tuple[Curve, ...]:
    """Return the curves over a factor without what others say of them."""
    own = factors_behind(factor)
    groups: dict[Any, tuple[Point, dict[str, Any], dict[str, Cells]]] = {}
    held_values: dict[Any, set[tuple[str, Any]]] = {}
    of_memory: dict[Any, set[tuple[str, Any]]] = {}
    threads: dict[Any, set[Any]] = {}
    points = [
        (point, parameters, value)
        for point, parameters in _settings(evidence)
        if point.statistic in (SAMPLE, ABOUT) and (value := parameters.get(factor)) is not None
    ]
    if len({value for _point, _parameters, value in points}) < 2:
        return ()
    for point, parameters, value in points:
        fixed = {name: item for name, item in parameters.items() if name not in own}
        key = (point.tool, point.layer, _cast(point, factor), frozen(fixed))
        threads.setdefault(key, set()).add(parameters.get(THREADS))
        _point, _fixed, metrics = groups.setdefault(key, (point, fixed, {}))
        for name in point.metrics:
            free = pace.undisturbed(point, name) if point.layer in BUSY_IS_FULL else point
            metrics.setdefault(name, {}).setdefault(value, {}).update(free.metrics.get(name, {}))
            if point.layer in BUSY_IS_FULL and pace.flags_of(free):
                held_values.setdefault(key, set()).add((name, value))
            if pace.is_of_server(free, name):
                of_memory.setdefault(key, set()).add((name, value))
    all_curves = [
        Curve(
            tool=point.tool,
            metric=metric,
            factor=factor,
            cells={value: cells[value] for value in sorted(cells, key=order)},
            layer=point.layer,
            roles=point.roles,
            file_system=str(fixed.get(FILE_SYSTEM, "")),
            fixed=fixed,
            held_values=frozenset(value for name, value in held_values.get(key, ()) if name == metric),
            of_memory=frozenset(value for name, value in of_memory.get(key, ()) if name == metric),
            is_one_each=threads[key] == {1},
            kind=point.kind_of_mean(metric),
            apart={
                name: value
                for name, value in settings_apart(point, metric, evidence).items()
                if canonical(point.tool, name) not in own
            },
        )
        for key, (point, fixed, metrics) in groups.items()
        for metric, cells in metrics.items()
        if len(cells) > 1
    ]
    return tuple(sorted(all_curves, key=lambda curve: (-len(curve.cells), -len(curve.trials))))


def _cast(point: Point, factor: str) -> Any:
    """Return who measured; where their number is the factor and no parameter, those that have the first in common."""
    if factor != CLIENTS or point.parameters.get(CLIENTS):
        return frozen(point.roles)
    return min(nodes_of(point), default="")
