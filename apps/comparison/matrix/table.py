"""The figure of a metric between each pair of sites, from the site that sends to the one that receives."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection
from django.db.models import Count, Q

from apps.accounts import rights
from apps.accounts.models import User
from apps.bench import strict_json
from apps.bench.rules.passed import Passed
from apps.bench.rules.tcp.estimates import CAPACITY
from apps.bench.toolkit import Metric, Tool
from apps.campaigns.models import Campaign, Experiment
from apps.comparison.history import series
from apps.comparison.matrix import ceilings, naming, ways
from apps.comparison.matrix.cells import MatrixCell
from apps.comparison.matrix.ways import End
from apps.results import doubts, means
from apps.results.evidence.passed import passed_along
from apps.results.models import Sample
from apps.results.ways import back_in_sql, sides_of
from apps.testbeds.models import Node, Site
from apps.toolbox import queries as toolbox

_COLUMNS = ("pair", "lane", "point", "experiment", "mean", "n", "at", "setting", "points", "since")
# What was measured so much later tells whether an older figure still holds.
LATER = "7 days"
# Of each setting between the same nodes the newest figure that was repeated counts, a single one only where nothing
# was; of these the best, with the best of the settings measured since.
# Naming the experiments, too, lets the database find the samples by its index on these.
_BEST = """
WITH points AS (
    SELECT p.pair, p.played, t.lane_id, t.point, s.experiment_id, min(t.parameters::text) setting, {mean} mean,
        count(*) n, max(r.recorded_at) at
    FROM results_sample s
    JOIN campaigns_trial t ON t.id = s.trial_id
    JOIN results_result r ON r.id = s.result_id
    JOIN unnest(%(lanes)s::bigint[], %(pairs)s::int[], %(backs)s::boolean[], %(cast)s::text[])
        AS p (lane, pair, back, played) ON p.lane = t.lane_id AND p.back = {back}
    WHERE s.experiment_id = ANY(%(experiments)s) AND r.experiment_id = ANY(%(experiments)s)
        AND s.metric = %(metric)s AND t.lane_id = ANY(%(lanes)s) AND s.counts
    GROUP BY 1, 2, 3, 4, 5
), settings AS (
    SELECT DISTINCT ON (pair, played, setting) *, n >= 2 is_sustained
    FROM points ORDER BY pair, played, setting, n >= 2 DESC, at DESC, {order}, point
), chosen AS (
    SELECT DISTINCT ON (pair)
        pair, lane_id, point, experiment_id, mean, n, at, setting, count(*) OVER (PARTITION BY pair) settings
    FROM settings ORDER BY pair, is_sustained DESC, {order}, point
)
SELECT chosen.*, (
    SELECT mean FROM settings
    WHERE settings.pair = chosen.pair AND settings.at > chosen.at + %(later)s::interval ORDER BY {order} LIMIT 1
) FROM chosen
"""


@dataclass(frozen=True)
class Matrix:
    """A tool's metric between sites; `cells` {(from, to): Cell}."""

    tool: Tool
    metric: Metric
    sites: tuple[Site, ...]
    cells: dict[tuple[int, int], MatrixCell]


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
    """Return the best sustained figures of a metric between all sites that the tool measured between."""
    ends = _ends(user, tool, metric)
    cells = _cells(ways.chosen(ends, metric), tool, metric)
    site_ids = {site for pair in ends for site in pair}
    cells = ceilings.attached(naming.named(_marked(cells, tool, metric), tool, metric), tool, metric)
    sites = tuple(Site.objects.filter(pk__in=site_ids).order_by("name", "pk"))
    rights.attach_foreign_teams(sites, user)
    return Matrix(tool, metric, sites, cells)


def _ends(user: User, tool: Tool, metric: Metric) -> dict[tuple[int, int], list[End]]:
    """Return the lanes of the tool by the sites that data went from and to, the newest experiment first."""
    rows = list(
        series.lanes_for(user)
        .filter(experiment__tool=tool.slug)
        .order_by("-experiment__campaign__launched_at", "-experiment_id", "pk")
        .values_list(
            "pk", "experiment_id", "roles", "experiment__factors", "experiment__fixed", "experiment__repetitions"
        )
    )
    firsts = [
        [roles[role.name][0] for role in tool.roles if roles.get(role.name)][:2] for _pk, _e, roles, *_w in rows
    ]
    sites = dict(
        Node.objects.filter(pk__in={pk for pair in firsts for pk in pair}).values_list("pk", "testbed__site_id")
    )
    ends: dict[tuple[int, int], list[End]] = defaultdict(list)
    for (pk, experiment, roles, factors, fixed, repetitions), pair in zip(rows, firsts, strict=True):
        places = [sites[node] for node in pair if node in sites]
        if len(places) == 2 and places[0] != places[1]:
            cast = strict_json.dumps(roles, sort_keys=True)
            way = strict_json.dumps([cast, factors, fixed, repetitions > 1], sort_keys=True)
            for is_back in sides_of(tool, metric.name, fixed, factors):
                source, target = reversed(places) if is_back else places
                ends[source, target].append(End(pk, experiment, cast, way, is_back))
    return ends


def _cells(ends: dict[tuple[int, int], list[End]], tool: Tool, metric: Metric) -> dict[tuple[int, int], MatrixCell]:
    """Return the figure of each pair, found by the database."""
    pairs = list(ends)
    lanes = {lane: place for place, pair in enumerate(pairs) for lane in ends[pair]}
    experiments = {lane.experiment for lane in lanes}
    rows = Experiment.objects.filter(pk__in=experiments).values_list("pk", "name", Campaign.told("campaign__"))
    by_experiment = {pk: (name, is_told) for pk, name, is_told in rows}
    return {
        pairs[row["pair"]]: MatrixCell(
            source=pairs[row["pair"]][0],
            target=pairs[row["pair"]][1],
            value=row["mean"],
            experiment_name=by_experiment[row["experiment"]][0],
            is_told=by_experiment[row["experiment"]][1],
            parameters=json.loads(row["setting"]),
            **{name: row[name] for name in ("n", "experiment", "lane", "point", "points", "at")},
            since=None if metric.higher_is_better is None else row["since"],
            is_higher_better=bool(metric.higher_is_better),
        )
        for row in _best_of(lanes, experiments, tool, metric)
    }


def _best_of(lanes: dict[End, int], experiments: set[int], tool: Tool, metric: Metric) -> Iterable[dict[str, Any]]:
    """Return the row of each pair, given {lane: place of its pair}, of the figures that count."""
    better = metric.higher_is_better
    order = "at DESC" if better is None else "mean DESC" if better else "mean ASC"
    timed = means.TIMED.format(parameters="t.parameters")
    mean = means.in_sql(tool, metric, value="s.value", timed=timed)
    with connection.cursor() as cursor:
        cursor.execute(
            _BEST.format(order=order, mean=mean, back=back_in_sql(tool, metric.name, parameters="t.parameters")),
            {
                "experiments": list(experiments),
                "lanes": [lane.lane for lane in lanes],
                "pairs": list(lanes.values()),
                "backs": [lane.is_back for lane in lanes],
                "cast": [lane.cast for lane in lanes],
                "metric": metric.name,
                "later": LATER,
            },
        )
        return [dict(zip(_COLUMNS, row, strict=True)) for row in cursor.fetchall()]


def _marked(
    cells: dict[tuple[int, int], MatrixCell], tool: Tool, metric: Metric
) -> dict[tuple[int, int], MatrixCell]:
    """Return the cells with the flags of their figures, read in one query, and with what refutes a capacity."""
    if not cells:
        return cells
    chosen = Q()
    for cell in cells.values():
        chosen |= Q(trial__lane=cell.lane, trial__point=cell.point)
    experiments = {cell.experiment for cell in cells.values()}
    rows = Sample.objects.filter(chosen, experiment__in=experiments, metric=metric.name, counts=True)
    trials: dict[tuple[int, int], list[int]] = defaultdict(list)
    flags = []
    for lane, point, trial, raised in rows.values_list("trial__lane", "trial__point", "trial", "result__flags"):
        trials[lane, point].append(trial)
        flags.append((trial, metric.name, raised))
    all_doubts = doubts.from_flags(flags)
    own_trials = {pair: trials[cell.lane, cell.point] for pair, cell in cells.items()}
    passed = passed_along(own_trials, tool, metric.name) if metric.name == CAPACITY else {}
    return {
        pair: replace(
            cell, mark=all_doubts.about(own_trials[pair], metric.name), passed=_more_than(cell, passed.get(pair))
        )
        for pair, cell in cells.items()
    }


def _more_than(cell: MatrixCell, passed: Passed | None) -> Passed | None:
    return passed if passed is not None and passed.rate_bps > cell.value else None
