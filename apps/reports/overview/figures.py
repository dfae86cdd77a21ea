"""The best and the latest figure of each pair of sites, or within a site, against what the path can give."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db import connection

from apps.bench.toolkit import Metric, Tool
from apps.bench.toolkit.ways import BACK, in_order
from apps.reports.overview.scope import Scope, ScopeLane
from apps.results import charts, means, theory
from apps.results.ways import back_in_sql
from apps.testbeds import queries as testbeds

# The best point of each lane each way (the newest where neither is better), and the bytes that its valid results
# moved: a rate over the time that was asked for, or what the tool counted. One metric at a time, of experiments that
# are named, and without the results' rows: so the planner expects as many rows as there are, and reads an index only.
_FIGURES = """
WITH figures AS (
    SELECT t.lane_id, t.point, s.value, t.finished_at, {back} is_back,
        s.value * %(bytes)s * CASE WHEN %(timed)s THEN (t.parameters->>'duration')::float8 ELSE 1 END moved,
        {is_timed} is_timed
    FROM results_sample s
    JOIN campaigns_trial t ON t.id = s.trial_id
    WHERE s.experiment_id = ANY(%(experiments)s) AND s.metric = %(metric)s
        AND t.finished_at >= %(start)s AND t.finished_at < %(end)s AND s.counts
    OFFSET 0
), points AS (
    SELECT lane_id, is_back, point, {mean} mean, count(*) n, max(finished_at) at, sum(moved) moved
    FROM figures GROUP BY 1, 2, 3
)
SELECT DISTINCT ON (lane_id, is_back) lane_id, is_back, mean, n, at, sum(moved) OVER (PARTITION BY lane_id)
FROM points ORDER BY lane_id, is_back, mean * %(sign)s DESC, at DESC
"""
# Metrics that count what was moved, in bytes.
AMOUNTS = ("transferred", "data_written")
_SIGN = {True: 1.0, False: -1.0, None: 0.0}


@dataclass(frozen=True)
class LaneFigure:
    """The mean of `n` valid samples at the best point of a lane, in the base unit of the tool's primary metric.

    Its data went from the second role to the first if it `is_back`.
    """

    lane: ScopeLane
    value: float
    n: int
    at: datetime
    is_back: bool = False


@dataclass(frozen=True)
class PairStanding:
    """How a tool stands between two places: the best of the period, the newest, and the ceiling of the best's path.

    `places` are two sites, a site and a file system ("" none), or a site and a file system that others serve;
    `ceiling` is in the metric's unit, None if unknown.
    """

    places: tuple[str, str]
    tool: Tool
    metric: Metric
    best: LaneFigure
    latest: LaneFigure
    ceiling: float | None

    @property
    def share(self) -> float | None:
        """Return the share of the ceiling that the best reached."""
        return self.best.value / self.ceiling if self.ceiling else None


@dataclass(frozen=True)
class Figures:
    """The figure of each lane that has one, by the lane and whether data went back, and the bytes that valid results
    of a lane moved, if that is known.
    """

    scope: Scope
    figures: dict[tuple[int, bool], LaneFigure]
    moved: dict[int, float]

    @cached_property
    def between_sites(self) -> list[PairStanding]:
        """Return how each tool stands between each two sites, from the one that sends to the one that receives."""
        groups: dict[tuple[str, str, str], list[LaneFigure]] = defaultdict(list)
        for figure in self.figures.values():
            ends = self.scope.ends_of(figure.lane)
            names = in_order((node.testbed.site.name for node in ends[:2]), is_back=figure.is_back)
            if len(names) == 2 and names[0] != names[1]:
                groups[names[0], names[1], figure.lane.tool].append(figure)
        return self._standings(groups)

    @cached_property
    def within_sites(self) -> list[PairStanding]:
        """Return how each tool stands within each site and on each file system there."""
        return self._standings(self._at_one_site(is_elsewhere=False))

    @cached_property
    def from_elsewhere(self) -> list[PairStanding]:
        """Return how each tool stands at each site on each file system that other sites serve, named with these."""
        return self._standings(self._at_one_site(is_elsewhere=True))

    def _at_one_site(self, *, is_elsewhere: bool) -> dict[tuple[str, str, str], list[LaneFigure]]:
        """Return the figures between nodes of one site, of file systems that it serves itself, or others do."""
        groups: dict[tuple[str, str, str], list[LaneFigure]] = defaultdict(list)
        for figure in self.figures.values():
            lane = figure.lane
            sites = {node.testbed.site.name for node in self.scope.ends_of(lane)}
            if len(sites) != 1 or bool(set(lane.served) - sites) != is_elsewhere:
                continue
            name = f"{lane.file_system} ({', '.join(lane.served)})" if is_elsewhere else lane.file_system
            groups[sites.pop(), name, lane.tool].append(figure)
        return groups

    @cached_property
    def _graph(self) -> testbeds.Graph:
        return testbeds.graph(self.scope.team)

    @cached_property
    def _lengths(self) -> Mapping[int, set[int | None]]:
        """Return the lengths of the datagrams of UDP's experiments, all in one query."""
        lanes = (figure.lane for figure in self.figures.values())
        return theory.lengths_of({lane.experiment for lane in lanes if self._transport_of(lane) == "udp"})

    def _transport_of(self, lane: ScopeLane) -> str:
        return self.scope.tools[lane.tool].transport

    def _standings(self, groups: dict[tuple[str, str, str], list[LaneFigure]]) -> list[PairStanding]:
        standings = []
        for (first, second, slug), members in sorted(groups.items()):
            metric = self.scope.metrics[slug]
            best = _best(members, metric)
            latest = _best(_newest(members, self.scope), metric)
            ceiling = self._ceiling(best.lane, metric)
            standings.append(PairStanding((first, second), self.scope.tools[slug], metric, best, latest, ceiling))
        return standings

    def _ceiling(self, lane: ScopeLane, metric: Metric) -> float | None:
        """Return what the path of a lane can give at most of a rate, in the metric's unit."""
        transport, ends = self._transport_of(lane), self.scope.ends_of(lane)
        bits = charts.RATE_BITS.get(metric.unit)
        if not bits or len(ends) != 2 or ends[0] == ends[1]:
            return None
        path = self._graph.path(*ends)
        if path is None:
            return None
        lengths = self._lengths[lane.experiment] if transport == "udp" else ()
        ceiling = theory.ceiling_bps([path], transport, lengths)
        return ceiling / bits if ceiling else None


def read(scope: Scope) -> Figures:
    """Return the figures of the lanes, in a query or two for each tool, whatever the number of samples."""
    figures = Figures(scope, {}, {})
    with connection.cursor() as cursor:
        for slug, metric in scope.metrics.items():
            experiments = sorted({lane.experiment for lane in scope.lanes.values() if lane.tool == slug})
            for values in _asked(scope.tools[slug], metric):
                period = {"start": scope.period.start, "end": scope.period.end}
                reckoned = _FIGURES.format(**_means(scope.tools[slug], metric, values["metric"]))
                cursor.execute(reckoned, values | period | {"experiments": experiments})
                amounts: dict[int, float] = {}
                for pk, is_back, mean, n, at, amount in cursor.fetchall():
                    lane = scope.lanes.get(pk)
                    if lane and values["metric"] == metric.name:
                        figures.figures[pk, is_back] = LaneFigure(lane, mean, n, at, is_back)
                    if lane and amount:
                        amounts[pk] = amount
                for pk, amount in amounts.items():
                    figures.moved[pk] = figures.moved.get(pk, 0.0) + amount
    return figures


def _asked(tool: Tool, metric: Metric) -> Iterable[dict[str, Any]]:
    """Return what is asked of a tool's experiments: its primary metric, and all that tells how many bytes were moved.

    What the tool counted itself is surer than a rate over the time that was asked for, which need not be set. What
    went back at the same time was moved, too.
    """
    names = {item.name for item in tool.metrics}
    counters = [name for name in AMOUNTS if name in names]
    timed = bool(tool.transport) and not counters and any(item.name == "duration" for item in tool.parameters)
    per_unit = charts.RATE_BITS.get(metric.unit, 0) / 8 if timed else 0.0
    yield {"metric": metric.name, "sign": _SIGN[metric.higher_is_better], "bytes": per_unit, "timed": timed}
    if per_unit and (back := f"{metric.name}{BACK}") in names:
        yield {"metric": back, "sign": 0.0, "bytes": per_unit, "timed": True}
    yield from ({"metric": name, "sign": 0.0, "bytes": 1.0, "timed": False} for name in counters)


def _means(tool: Tool, metric: Metric, name: str) -> dict[str, str]:
    """Return the mean that is right for a metric in SQL, and whether a trial had a time set where that matters."""
    back = back_in_sql(tool, metric.name, parameters="t.parameters")
    if name != metric.name:
        return {"mean": "avg(value)", "is_timed": "false", "back": back}
    mean = means.in_sql(tool, metric, value="value", timed="is_timed")
    timed = means.TIMED.format(parameters="t.parameters") if "is_timed" in mean else "false"
    return {"mean": mean, "is_timed": timed, "back": back}


def _newest(members: Sequence[LaneFigure], scope: Scope) -> list[LaneFigure]:
    """Return the figures of the experiment that was measured last."""
    last = max(members, key=lambda item: item.at).lane.experiment
    return [item for item in members if item.lane.experiment == last]


def _best(members: Sequence[LaneFigure], metric: Metric) -> LaneFigure:
    if metric.higher_is_better is None:
        return max(members, key=lambda item: item.at)
    return (max if metric.higher_is_better else min)(members, key=lambda item: item.value)
