"""The figures of the sets: grouped by point in the database, so that thousands of runs are a few thousand rows."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain, compress
from typing import Any, NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import F, Max, Min, Q, TextField
from django.db.models.functions import Cast, Coalesce

from apps.bench import units
from apps.bench.statistics import Mean
from apps.bench.toolkit import Params, Tool, Value, goes_back, right_mean
from apps.campaigns.models import Experiment, Lane, Trial
from apps.comparison.comparisons import choice as choices
from apps.comparison.comparisons import sets
from apps.comparison.comparisons.choice import SetChoice, SetScope
from apps.results import doubts, queries, ways
from apps.results.doubts import Doubts
from apps.testbeds.models import Node


class FigureRow(NamedTuple):
    """The figures of one point of an experiment's sweep on one lane, in the order of measurement.

    `moments` are when each was measured, or where no set asks for dates only the first and the last of its lane.
    """

    experiment: int
    lane: int
    parameters: dict[str, Any]
    values: Sequence[float]
    trials: Sequence[int]
    moments: Sequence[datetime]


@dataclass(frozen=True)
class FigureRows:
    """The rows of each set, and what they refer to; `invalid` counts figures that a flag makes so, by its name.

    `doubts` are the flags of the metric's figures, `pairs` {lane: "sender → receiver"} by the names of the nodes that
    played its roles, "↔" of both ways.
    """

    choice: SetChoice
    metric: str
    rows: tuple[Sequence[FigureRow], ...]
    lanes: Mapping[int, Lane]
    nodes: Mapping[int, Node]
    pairs: Mapping[int, str]
    doubts: Doubts
    invalid: Counter[str]
    left_out: int

    def tool_of(self, row: FigureRow) -> Tool:
        """Return the tool that measured a row."""
        return self.choice.tools[self.choice.experiments[row.experiment].tool]


def rows_of(choice: SetChoice, metric: str, *, include_invalid: bool = False) -> FigureRows:
    """Return the figures of a metric in all sets. Warm-ups never count."""
    lanes = {lane.pk: lane for lane in Lane.objects.filter(experiment__in=choice.experiments)}
    node_ids = {pk for lane in lanes.values() for ids in lane.roles.values() for pk in ids}
    nodes = Node.objects.select_related("testbed__site").in_bulk(node_ids)
    flagged = _flagged(choice.experiments, metric)
    is_dated = any(scope.result_set.since or scope.result_set.until for scope in choice.scopes)
    all_rows = _rows(choice.experiments, metric, dated=is_dated)
    by_set: list[list[FigureRow]] = []
    flagged_trials: set[int] = set()
    invalid: Counter[str] = Counter()
    for scope in choice.scopes:
        played = _lanes_of(scope, lanes)
        mine = [own for row in all_rows if row.lane in played and (own := _of_set(row, scope, choice))]
        touched = {trial for row in mine for trial in row.trials if trial in flagged}
        invalid.update(name for trial in touched - flagged_trials for name in flagged[trial])
        flagged_trials |= touched
        by_set.append(mine if include_invalid else [own for row in mine if (own := _valid(row, flagged))])
    return FigureRows(
        choice=choice,
        metric=metric,
        rows=tuple(by_set),
        lanes=lanes,
        nodes=nodes,
        pairs=_pairs(choice, metric, by_set, lanes, nodes),
        doubts=doubts.doubts_of(choice.experiments, [metric]),
        invalid=invalid,
        left_out=0 if include_invalid else len(flagged_trials),
    )


def mean_of(figures: FigureRows, unit: str) -> tuple[Mean, str]:
    """Return which mean is right for the figures, and why (a msgid)."""
    params: Iterable[Params] = (row.parameters for rows in figures.rows for row in rows)
    kind, why = right_mean(figures.choice.tools.values(), params, unit)
    return kind, why.msgid


def _rows(experiments: Mapping[int, Experiment], metric: str, *, dated: bool) -> list[FigureRow]:
    """Return the figures of experiments by experiment, lane and point."""
    whole = Q(experiment__in=experiments)
    for pk, experiment in experiments.items():
        size = getattr(experiment, "size", 0) or 0
        if size > choices.MOST_TRIALS:
            whole &= ~Q(experiment=pk) | Q(trial__position__gte=size - choices.MOST_TRIALS)
    moment = Coalesce("trial__finished_at", "trial__updated_at")
    rows = list(
        doubts.shown_samples()
        .filter(whole, metric=metric)
        .values_list("experiment_id", "trial__lane_id", "trial__point")
        .annotate(
            values=ArrayAgg("value", order_by="trial__position"),
            trials=ArrayAgg("trial_id", order_by="trial__position"),
            **({"times": ArrayAgg(moment, order_by="trial__position")} if dated else {}),
        )
        .order_by("experiment_id", "trial__lane_id", F("trial__point").asc())
    )
    # Thousands of dates take longer to read than all the figures.
    ends = {} if dated else _ends(experiments)
    # Trials of one point differ in nothing but their repetition.
    trials = Trial.objects.filter(experiment__in=experiments).order_by("experiment_id", "lane_id", "point")
    settings = trials.distinct("experiment_id", "lane_id", "point").values_list(
        "experiment_id", "lane_id", "point", Cast("parameters", TextField())
    )
    # Sweeps that are compared have many settings in common.
    read = cache(json.loads)
    setting = {(experiment, lane, point): read(values) for experiment, lane, point, values in settings}
    return [
        FigureRow(experiment, lane, setting[experiment, lane, point], values, ids, times[0] if times else ends[lane])
        for experiment, lane, point, values, ids, *times in rows
    ]


def _ends(experiments: Mapping[int, Experiment]) -> dict[int, tuple[datetime, datetime]]:
    """Return {lane: when the first and the last trial on it ended}."""
    moment = Coalesce("finished_at", "updated_at")
    trials = Trial.objects.filter(experiment__in=experiments, is_warmup=False).values_list("lane_id")
    ends = trials.annotate(first=Min(moment), last=Max(moment)).order_by()
    return {lane: (first, last) for lane, first, last in ends}


def _flagged(experiments: Mapping[int, Experiment], metric: str) -> dict[int, tuple[str, ...]]:
    """Return {trial: names of the flags for which its figure of a metric does not count}."""
    rows = doubts.shown_samples().filter(experiment__in=experiments, metric=metric, counts=False)
    return {trial: doubts.reasons_of(flags, metric) for trial, flags in rows.values_list("trial_id", "result__flags")}


def _pairs(
    choice: SetChoice,
    metric: str,
    by_set: Sequence[Sequence[FigureRow]],
    lanes: Mapping[int, Lane],
    nodes: Mapping[int, Node],
) -> dict[int, str]:
    """Return {lane: "sender → receiver"} by the names of nodes, "client ↔ server" where data went both ways."""
    sides: dict[int, set[bool]] = defaultdict(set)
    tools = {pk: choice.tools[choice.experiments[lane.experiment_id].tool] for pk, lane in lanes.items()}
    for row in chain.from_iterable(by_set):
        sides[row.lane].add(goes_back(tools[row.lane], row.parameters, metric))
    ends = {}
    for lane, backs in sides.items():
        roles = lanes[lane].roles
        # Of a node that is gone there is its number.
        names = {pk: choice.named(nodes[pk]) if pk in nodes else str(pk) for ids in roles.values() for pk in ids}
        arrow = ways.ONE_WAY if len(backs) == 1 else ways.BOTH_WAYS
        ends[lane] = ways.lane_ends(roles, tools[lane], names, is_back=backs == {True}, arrow=arrow)
    return ends


def _lanes_of(scope: SetScope, lanes: Mapping[int, Lane]) -> set[int]:
    """Return the lanes of a set's experiments on which its nodes played a role."""
    return {
        pk
        for pk, lane in lanes.items()
        if lane.experiment_id in scope.experiments
        and (scope.nodes is None or any(not scope.nodes.isdisjoint(ids) for ids in lane.roles.values()))
    }


def _of_set(row: FigureRow, scope: SetScope, choice: SetChoice) -> FigureRow | None:
    """Return what of a row on one of a set's lanes belongs to the set, None if nothing does."""
    for name, text in scope.result_set.settings:
        tool = choice.tools[choice.experiments[row.experiment].tool]
        if not sets.same(row.parameters.get(name), text, _typed(tool, name, text)):
            return None
    since, until = scope.result_set.since, scope.result_set.until
    if not since and not until:
        return row
    within = [(since is None or moment >= since) and (until is None or moment < until) for moment in row.moments]
    return _row_within(row, within)


def _valid(row: FigureRow, flagged: dict[int, tuple[str, ...]]) -> FigureRow | None:
    if not flagged:
        return row
    return _row_within(row, [trial not in flagged for trial in row.trials])


def _row_within(row: FigureRow, places: list[bool]) -> FigureRow | None:
    if all(places):
        return row
    if not any(places):
        return None
    dated = len(row.moments) == len(places)
    return row._replace(
        values=list(compress(row.values, places)),
        trials=list(compress(row.trials, places)),
        moments=list(compress(row.moments, places)) if dated else row.moments,
    )


def _typed(tool: Tool, name: str, text: str) -> list[Value]:
    """Return what a tool reads a parameter's text as, so that streams=4 and window=64KiB mean what they say."""
    parameter = queries.parameter_of(tool, name)
    if parameter is None or not text:
        return []
    try:
        return [parameter.clean(text)]
    except units.UnitError:
        return []
