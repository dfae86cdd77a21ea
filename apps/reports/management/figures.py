"""The best and the latest figure of each pair of sites, or within a site, against what the path can give."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db import connection

from apps.bench.tools.base import Metric, Tool
from apps.reports.management.scope import Measured, Scope
from apps.results import charts
from apps.testbeds import queries as testbeds

# The best point of each lane (the newest where neither direction is better), and the bytes that its valid results
# moved: a rate over the time that was asked for, or what the tool counted.
_FIGURES = """
WITH points AS (
    SELECT t.lane_id, s.metric, t.point, w.sign, avg(s.value) mean, count(*) n, max(r.recorded_at) at,
        sum(s.value * w.bytes * CASE WHEN w.timed THEN (t.parameters->>'duration')::float8 ELSE 1 END) moved
    FROM unnest(%(experiments)s::bigint[], %(metrics)s::text[], %(signs)s::float8[], %(bytes)s::float8[],
        %(timed)s::bool[]) w(experiment, metric, sign, bytes, timed)
    JOIN results_sample s ON s.experiment_id = w.experiment AND s.metric = w.metric
    JOIN campaigns_trial t ON t.id = s.trial_id
    JOIN results_result r ON r.id = s.result_id
    WHERE t.finished_at >= %(start)s AND t.finished_at < %(end)s AND NOT t.is_warmup AND t.invalid_at IS NULL
        AND (r.flags = '[]' OR NOT EXISTS (
            SELECT FROM jsonb_array_elements(r.flags) f
            WHERE f->>'severity' = 'invalid'
                AND (coalesce(f->'metrics', '[]') = '[]' OR f->'metrics' ? s.metric)))
    GROUP BY 1, 2, 3, 4
)
SELECT DISTINCT ON (lane_id, metric) lane_id, metric, mean, n, at, sum(moved) OVER (PARTITION BY lane_id, metric)
FROM points ORDER BY lane_id, metric, mean * sign DESC, at DESC
"""
# Metrics that count what was moved, in bytes.
AMOUNTS = ("transferred", "data_written")
_SIGN = {True: 1.0, False: -1.0, None: 0.0}


@dataclass(frozen=True)
class Figure:
    """The mean of `n` valid samples at the best point of a lane, in the base unit of the tool's primary metric."""

    lane: Measured
    value: float
    n: int
    at: datetime


@dataclass(frozen=True)
class Standing:
    """How a tool stands between two places: the best of the period, the newest, and the ceiling of the best's path.

    `places` are two sites, or a site and a file system ("" none); `ceiling` is in the metric's unit, None if unknown.
    """

    places: tuple[str, str]
    tool: Tool
    metric: Metric
    best: Figure
    latest: Figure
    ceiling: float | None

    @property
    def share(self) -> float | None:
        """Return the share of the ceiling that the best reached."""
        return self.best.value / self.ceiling if self.ceiling else None


@dataclass(frozen=True)
class Figures:
    """The figure of each lane that has one, and the bytes that the valid results of each moved, if that is known."""

    scope: Scope
    figures: dict[int, Figure]
    moved: dict[int, float]

    @cached_property
    def between_sites(self) -> list[Standing]:
        """Return how each tool stands between each two sites, from the first role's to the second's."""
        groups: dict[tuple[str, str, str], list[Figure]] = defaultdict(list)
        for figure in self.figures.values():
            ends = self.scope.ends_of(figure.lane)
            names = [node.testbed.site.name for node in ends[:2]]
            if len(names) == 2 and names[0] != names[1]:
                groups[names[0], names[1], figure.lane.tool].append(figure)
        return self._standings(groups)

    @cached_property
    def within_sites(self) -> list[Standing]:
        """Return how each tool stands within each site and on each file system there."""
        groups: dict[tuple[str, str, str], list[Figure]] = defaultdict(list)
        for figure in self.figures.values():
            sites = {node.testbed.site.name for node in self.scope.ends_of(figure.lane)}
            if len(sites) == 1:
                groups[sites.pop(), figure.lane.file_system, figure.lane.tool].append(figure)
        return self._standings(groups)

    @cached_property
    def _graph(self) -> testbeds.Graph:
        return testbeds.graph(self.scope.team)

    def _standings(self, groups: dict[tuple[str, str, str], list[Figure]]) -> list[Standing]:
        found = []
        for (first, second, slug), members in sorted(groups.items()):
            metric = self.scope.metrics[slug]
            best = _best(members, metric)
            latest = _best(_newest(members, self.scope), metric)
            ceiling = self._ceiling(best.lane, metric)
            found.append(Standing((first, second), self.scope.tools[slug], metric, best, latest, ceiling))
        return found

    def _ceiling(self, lane: Measured, metric: Metric) -> float | None:
        """Return what the path of a lane can give at most of a rate, in the metric's unit."""
        tool, ends = self.scope.tools[lane.tool], self.scope.ends_of(lane)
        bits = charts.RATE_BITS.get(metric.unit)
        if not bits or tool.transport not in charts.CEILINGS or len(ends) != 2 or ends[0] == ends[1]:
            return None
        path = self._graph.path(*ends)
        if path is None or path.capacity_bps is None:
            return None
        ceiling = charts.CEILINGS[tool.transport](path.capacity_bps, path.mtu or 1500)
        return ceiling / bits if ceiling else None


def read(scope: Scope) -> Figures:
    """Return the figures of the lanes, in one query whatever the number of samples."""
    experiments = {lane.experiment: lane for lane in scope.lanes.values()}
    wanted = [row for lane in experiments.values() for row in _asked(scope, lane)]
    figures: dict[int, Figure] = {}
    moved: dict[int, float] = defaultdict(float)
    columns = list(zip(*wanted, strict=True)) or [()] * 5
    values = dict(zip(("experiments", "metrics", "signs", "bytes", "timed"), map(list, columns), strict=True))
    with connection.cursor() as cursor:
        cursor.execute(_FIGURES, values | {"start": scope.period.start, "end": scope.period.end})
        for pk, metric, mean, n, at, amount in cursor.fetchall():
            lane = scope.lanes.get(pk)
            if lane is None:
                continue
            if metric == scope.metrics[lane.tool].name:
                figures[pk] = Figure(lane, mean, n, at)
            if amount:
                moved[pk] += amount
    return Figures(scope, figures, dict(moved))


def _asked(scope: Scope, lane: Measured) -> Iterable[tuple[int, str, float, float, bool]]:
    """Return (experiment, metric, sign, bytes in one of it, is timed) of what is asked of an experiment."""
    tool, metric = scope.tools.get(lane.tool), scope.metrics.get(lane.tool)
    if tool is None or metric is None:
        return
    timed = bool(tool.transport) and any(parameter.name == "duration" for parameter in tool.parameters)
    per_unit = charts.RATE_BITS.get(metric.unit, 0) / 8 if timed else 0.0
    yield lane.experiment, metric.name, _SIGN[metric.higher_is_better], per_unit, timed
    if not per_unit:
        known = {item.name for item in tool.metrics}
        yield from ((lane.experiment, name, 0.0, 1.0, False) for name in AMOUNTS if name in known)


def _newest(members: Sequence[Figure], scope: Scope) -> list[Figure]:
    """Return the figures of the experiment that was measured last."""
    last = max(members, key=lambda item: item.at).lane.experiment
    return [item for item in members if item.lane.experiment == last]


def _best(members: Sequence[Figure], metric: Metric) -> Figure:
    if metric.higher_is_better is None:
        return max(members, key=lambda item: item.at)
    return (max if metric.higher_is_better else min)(members, key=lambda item: item.value)
