"""The newest figure of a metric between each pair of sites, from the first role's site to the second's."""

import operator
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Count

from apps.accounts.models import User
from apps.bench.tools.base import Metric, Tool, is_invalid
from apps.campaigns.models import Experiment
from apps.results.history import series
from apps.results.models import Result
from apps.testbeds.models import Node, Site
from apps.toolbox import queries as toolbox

_COLUMNS = ("trial__lane_id", "trial__point", "experiment_id", "mean", "n", "at", "points", "last")
# Naming the experiments, too, lets the database find the samples by its index on these.
_BEST = """
WITH points AS (
    SELECT t.lane_id, t.point, s.experiment_id, avg(s.value) mean, count(*) n, max(r.recorded_at) at
    FROM results_sample s
    JOIN campaigns_trial t ON t.id = s.trial_id
    JOIN results_result r ON r.id = s.result_id
    WHERE s.experiment_id = ANY(%(experiments)s) AND r.experiment_id = ANY(%(experiments)s)
        AND s.metric = %(metric)s AND t.lane_id = ANY(%(lanes)s) AND NOT t.is_warmup
        AND r.id <> ALL(%(invalid)s::bigint[])
    GROUP BY 1, 2, 3
)
SELECT DISTINCT ON (lane_id) lane_id, point, experiment_id, mean, n, at, count(*) OVER lane, max(at) OVER lane
FROM points WINDOW lane AS (PARTITION BY lane_id) ORDER BY lane_id, {order}, point
"""
# Of each pair the newest experiments are looked at in turn, so many times, until one has figures of the metric.
MOST_TURNS = 5


@dataclass(frozen=True)
class Cell:
    """The figure from one site to another: the mean of `n` samples at one point of the newest experiment.

    Of several points it is the best, in the metric's own direction (the newest where neither is better), with the
    lane and the point it was measured at.
    """

    source: int
    target: int
    value: float
    n: int
    experiment: int
    experiment_name: str
    lane: int
    point: int
    points: int
    at: datetime


@dataclass(frozen=True)
class Matrix:
    """A tool's metric between sites; `cells` {(from, to): Cell}."""

    tool: Tool
    metric: Metric
    sites: tuple[Site, ...]
    cells: dict[tuple[int, int], Cell]


def tools_between(user: User) -> list[Tool]:
    """Return the tools that measured between two ends, the most used first."""
    rows = (
        Experiment.objects.filter(lanes__in=series.lanes_for(user))
        .values("tool")
        .annotate(times=Count("pk", distinct=True))
        .order_by("-times", "tool")
    )
    tools = [toolbox.get_tool(row["tool"]) for row in rows]
    return [tool for tool in tools if len(tool.roles) > 1]


def matrix_of(user: User, tool: Tool, metric: Metric) -> Matrix:
    """Return the newest figures of a metric between all sites that the tool measured between."""
    ends = _ends(user, tool)
    waiting = {pair: list(lanes) for pair, lanes in ends.items()}
    cells: dict[tuple[int, int], Cell] = {}
    for _turn in range(MOST_TURNS):
        # The newest experiment of each pair without a figure yet, with all its lanes between the two.
        asked = {pair: _newest(lanes) for pair, lanes in waiting.items() if lanes}
        if not asked:
            break
        found = _cells(asked, metric)
        cells |= found
        waiting = {
            pair: [lane for lane in waiting[pair] if lane not in lanes]
            for pair, lanes in asked.items()
            if pair not in found
        }
    wanted = {site for pair in ends for site in pair}
    return Matrix(tool, metric, tuple(Site.objects.filter(pk__in=wanted).order_by("name", "pk")), cells)


@dataclass(frozen=True)
class _End:
    """A lane between two sites."""

    lane: int
    experiment: int


def _ends(user: User, tool: Tool) -> dict[tuple[int, int], list[_End]]:
    """Return the lanes of the tool by their pair of sites, the newest experiment first."""
    rows = list(
        series.lanes_for(user)
        .filter(experiment__tool=tool.slug)
        .order_by("-experiment__campaign__launched_at", "-experiment_id", "pk")
        .values_list("pk", "experiment_id", "roles")
    )
    firsts = [
        [roles[role.name][0] for role in tool.roles if roles.get(role.name)][:2] for _pk, _experiment, roles in rows
    ]
    sites = dict(
        Node.objects.filter(pk__in={pk for pair in firsts for pk in pair}).values_list("pk", "testbed__site_id")
    )
    found: dict[tuple[int, int], list[_End]] = defaultdict(list)
    for (pk, experiment, _roles), pair in zip(rows, firsts, strict=True):
        places = [sites[node] for node in pair if node in sites]
        if len(places) == 2 and places[0] != places[1]:
            found[places[0], places[1]].append(_End(pk, experiment))
    return found


def _newest(lanes: list[_End]) -> list[_End]:
    return [lane for lane in lanes if lane.experiment == lanes[0].experiment]


def _cells(asked: dict[tuple[int, int], list[_End]], metric: Metric) -> dict[tuple[int, int], Cell]:
    """Return the best point of each pair's experiment, found by the database."""
    pair_of = {lane.lane: pair for pair, lanes in asked.items() for lane in lanes}
    experiments = {lane.experiment for lanes in asked.values() for lane in lanes}
    grouped: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for row in _best_of_lanes(pair_of, experiments, metric):
        grouped[pair_of[row["trial__lane_id"]]].append(row)
    return {pair: _best(pair, rows, metric) for pair, rows in grouped.items()}


def _best_of_lanes(lanes: Iterable[int], experiments: set[int], metric: Metric) -> Iterable[dict[str, Any]]:
    """Return the best point of each lane: mean, number and time of its valid figures, warm-ups never counting.

    `points` are how many the lane has, `last` when the latest was measured.
    """
    flagged = Result.objects.filter(
        experiment__in=experiments, trial__lane__in=list(lanes), flags__contains=[{"severity": "invalid"}]
    )
    invalid = [
        pk for pk, flags in flagged.values_list("pk", "flags") if any(is_invalid(flag, metric.name) for flag in flags)
    ]
    better = metric.higher_is_better
    order = "at DESC" if better is None else "mean DESC" if better else "mean ASC"
    with connection.cursor() as cursor:
        cursor.execute(
            _BEST.format(order=order),
            {"experiments": list(experiments), "lanes": list(lanes), "metric": metric.name, "invalid": invalid},
        )
        rows = [dict(zip(_COLUMNS, row, strict=True)) for row in cursor.fetchall()]
    names = dict(Experiment.objects.filter(pk__in=experiments).values_list("pk", "name"))
    return [{**row, "experiment__name": names[row["experiment_id"]]} for row in rows]


def _best(pair: tuple[int, int], rows: list[dict[str, Any]], metric: Metric) -> Cell:
    better = metric.higher_is_better
    key = operator.itemgetter("at" if better is None else "mean")
    chosen = (min if better is False else max)(rows, key=key)
    return Cell(
        source=pair[0],
        target=pair[1],
        value=chosen["mean"],
        n=chosen["n"],
        experiment=chosen["experiment_id"],
        experiment_name=chosen["experiment__name"],
        lane=chosen["trial__lane_id"],
        point=chosen["trial__point"],
        points=sum(row["points"] for row in rows),
        at=max(row["last"] for row in rows),
    )
