"""The figures of the sets: grouped by point in the database, so that thousands of runs are a few thousand rows."""

import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import chain, compress
from typing import Any, NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Exists, F, Max, Min, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast, Coalesce

from apps.accounts import rights
from apps.accounts.models import User
from apps.bench import units
from apps.bench.toolkit import Tool, Value
from apps.campaigns.models import Campaign, Experiment, ExperimentRole, Lane, Trial
from apps.campaigns.queries.visibility import counted, visible
from apps.comparison.comparisons import directions, sets
from apps.comparison.comparisons.sets import ResultSet
from apps.results import doubts, queries
from apps.results.doubts import Doubts
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

# Of an experiment the newest trials up to this many are looked at; of a set's experiments the newest, up to that many
# trials together and so many of them.
MOST_TRIALS = 30_000
MOST_TOGETHER = 8_000
MOST_EXPERIMENTS = 500
_NODE_PATHS = {"cluster": "clusters", "site": "testbed__site", "node": "pk"}


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
class SetScope:
    """What a set stands for: its experiments, and the nodes of which one must have played a role (None: any).

    `cut` counts the trials of older experiments that are left out because there are too many.
    """

    result_set: ResultSet
    experiments: dict[int, Experiment]
    nodes: frozenset[int] | None
    cut: int = 0
    foreign: Mapping[int, str] = field(default_factory=dict)


@dataclass
class Gathered:
    """The rows of each set, and what they refer to; `invalid` counts figures that a flag makes so, by its name.

    `doubts` are the flags of the metric's figures.
    """

    choices: list[SetScope]
    metric: str = ""
    rows: list[list[FigureRow]] = field(default_factory=list)
    experiments: dict[int, Experiment] = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    lanes: dict[int, Lane] = field(default_factory=dict)
    nodes: dict[int, Node] = field(default_factory=dict)
    invalid: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    doubts: Doubts = field(default_factory=Doubts)
    # What `factors` read of the rows, by the factor's name and the set's place.
    columns: dict[tuple[str, int], list[Hashable]] = field(default_factory=dict)
    # Names of teams that the reader is no member of: they stand beside their nodes.
    foreign: dict[int, str] = field(default_factory=dict)
    _pairs: dict[int, str] = field(default_factory=dict)

    def tool_of(self, row: FigureRow) -> Tool:
        """Return the tool that measured a row."""
        return self.tools[self.experiments[row.experiment].tool]

    def nodes_of(self, row: FigureRow) -> str:
        """Return "sender → receiver" with the names of the nodes that played a row's roles, "↔" of both ways."""
        if not self._pairs:
            self._pairs |= directions.pairs_of(
                chain.from_iterable(self.rows), self.lanes, self.tool_of, self.metric,
                lambda pk: self.named(self.nodes.get(pk, pk)),
            )  # fmt: skip
        return self._pairs[row.lane]

    def named(self, thing: Campaign | Node | int) -> str:
        """Return the name of a campaign or node (of one that is gone its number), with its team's if foreign."""
        team = None if isinstance(thing, int) else self.foreign.get(thing.team_id)
        return f"{thing} ({team})" if team else str(thing)


def choose(wanted: Iterable[ResultSet], user: User) -> list[SetScope]:
    """Return what each set stands for of all that the user may see; the newest experiments of large ones."""
    nodes = _nodes_by_kind(result_sets := list(wanted))
    chosen = [_choose(item, user, nodes) for item in result_sets]
    teams = {item.campaign.team_id for choice in chosen for item in choice.experiments.values()}
    foreign = rights.foreign_names(user, teams)
    return [replace(choice, foreign=foreign) for choice in chosen]


def tools_of(choices: Iterable[SetScope]) -> dict[str, Tool]:
    """Return the tools of all sets' experiments."""
    slugs = dict.fromkeys(item.tool for choice in choices for item in choice.experiments.values())
    return {slug: toolbox.get_tool(slug) for slug in slugs}


def gather(choices: list[SetScope], metric: str, *, include_invalid: bool = False) -> Gathered:
    """Return the figures of a metric in all sets. Warm-ups never count."""
    gathered = Gathered(choices, metric, tools=tools_of(choices))
    for choice in choices:
        gathered.experiments |= choice.experiments
        gathered.foreign |= choice.foreign
    lanes = Lane.objects.filter(experiment__in=gathered.experiments)
    gathered.lanes = {lane.pk: lane for lane in lanes}
    node_ids = {pk for lane in gathered.lanes.values() for ids in lane.roles.values() for pk in ids}
    gathered.nodes = Node.objects.select_related("testbed__site").in_bulk(node_ids)
    gathered.doubts = doubts.doubts_of(gathered.experiments, [metric])
    flagged = _flagged(gathered.experiments, metric)
    is_dated = any(item.result_set.since or item.result_set.until for item in choices)
    rows = _rows(gathered.experiments, metric, dated=is_dated)
    counted: set[int] = set()
    for choice in choices:
        played = _lanes_of(choice, gathered)
        mine = [own for row in rows if row.lane in played and (own := _of_set(row, choice, gathered))]
        touched = {trial for row in mine for trial in row.trials if trial in flagged}
        gathered.invalid.update(name for trial in touched - counted for name in flagged[trial])
        gathered.left_out += 0 if include_invalid else len(touched - counted)
        counted |= touched
        gathered.rows.append(mine if include_invalid else [own for row in mine if (own := _valid(row, flagged))])
    return gathered


def _choose(result_set: ResultSet, user: User, by_kind: dict[tuple[str, int], set[int]]) -> SetScope:
    # Who names a campaign sees it where they may; of all others only what counts for them.
    is_named = any(kind in ("campaign", "experiment") for kind, _pk in result_set.numbers)
    experiments = (visible if is_named else counted)(
        Experiment.objects.filter(campaign__deleting_at=None), user, path="campaign"
    ).select_related("campaign", "file_system")
    filters = {"campaign": "campaign", "experiment": "pk", "file-system": "file_system"}
    for kind, pk in result_set.numbers:
        if kind in filters:
            experiments = experiments.filter(**{filters[kind]: pk})
    if result_set.tool:
        experiments = experiments.filter(tool=result_set.tool)
    if result_set.since:
        experiments = experiments.exclude(campaign__finished_at__lt=result_set.since)
    if result_set.until:
        # What was published or imported is older than the day on which it came here.
        experiments = experiments.exclude(campaign__launched_at__gte=result_set.until, campaign__origin="measured")
    node_sets = [by_kind.get((kind, pk), set()) for kind, pk in result_set.numbers if kind in _NODE_PATHS]
    nodes = set.intersection(*node_sets) if node_sets else None
    if nodes is not None:
        played = ExperimentRole.objects.filter(
            Q(node__in=nodes) | Q(cluster__nodes__in=nodes), experiment=OuterRef("pk")
        )
        experiments = experiments.filter(Exists(played))
    chosen: dict[int, Experiment] = {}
    cut = total = 0
    for experiment in _newest(experiments):
        size = experiment.size or 0
        if chosen and total + size > min(MOST_TOGETHER, MOST_TRIALS):
            cut += size
            continue
        chosen[experiment.pk] = experiment
        total += size
        cut += max(0, size - MOST_TRIALS)
    return SetScope(result_set, chosen, frozenset(nodes) if nodes is not None else None, cut)


def _newest(experiments: QuerySet[Experiment]) -> Iterable[Any]:
    """Return the newest experiments with their `size`, how many trials each has; an index tells it at once."""
    last = Trial.objects.filter(experiment=OuterRef("pk")).order_by("-position").values("position")[:1]
    return experiments.annotate(size=Subquery(last) + 1).order_by("-pk")[:MOST_EXPERIMENTS]


def _nodes_by_kind(result_sets: Sequence[ResultSet]) -> dict[tuple[str, int], set[int]]:
    """Return the nodes of every cluster, site and node that sets name, {(kind, id): ids of nodes}."""
    nodes: dict[tuple[str, int], set[int]] = defaultdict(set)
    for kind, path in _NODE_PATHS.items():
        part_ids = {pk for item in result_sets if (pk := item.number(kind)) is not None}
        if part_ids:
            for whole, node in Node.objects.filter(**{f"{path}__in": part_ids}).values_list(path, "pk"):
                nodes[kind, whole].add(node)
    return nodes


def _rows(experiments: dict[int, Experiment], metric: str, *, dated: bool) -> list[FigureRow]:
    """Return the figures of experiments by experiment, lane and point."""
    whole = Q(experiment__in=experiments)
    for pk, experiment in experiments.items():
        size = getattr(experiment, "size", 0) or 0
        if size > MOST_TRIALS:
            whole &= ~Q(experiment=pk) | Q(trial__position__gte=size - MOST_TRIALS)
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


def _ends(experiments: dict[int, Experiment]) -> dict[int, tuple[datetime, datetime]]:
    """Return {lane: when the first and the last trial on it ended}."""
    moment = Coalesce("finished_at", "updated_at")
    trials = Trial.objects.filter(experiment__in=experiments, is_warmup=False).values_list("lane_id")
    ends = trials.annotate(first=Min(moment), last=Max(moment)).order_by()
    return {lane: (first, last) for lane, first, last in ends}


def _flagged(experiments: dict[int, Experiment], metric: str) -> dict[int, tuple[str, ...]]:
    """Return {trial: names of the flags for which its figure of a metric does not count}."""
    rows = doubts.shown_samples().filter(experiment__in=experiments, metric=metric, counts=False)
    return {trial: doubts.reasons_of(flags, metric) for trial, flags in rows.values_list("trial_id", "result__flags")}


def _lanes_of(choice: SetScope, gathered: Gathered) -> set[int]:
    """Return the lanes of a set's experiments on which its nodes played a role."""
    return {
        pk
        for pk, lane in gathered.lanes.items()
        if lane.experiment_id in choice.experiments
        and (choice.nodes is None or any(not choice.nodes.isdisjoint(ids) for ids in lane.roles.values()))
    }


def _of_set(row: FigureRow, choice: SetScope, gathered: Gathered) -> FigureRow | None:
    """Return what of a row on one of a set's lanes belongs to the set, None if nothing does."""
    for name, text in choice.result_set.settings:
        if not sets.same(row.parameters.get(name), text, _typed(gathered.tool_of(row), name, text)):
            return None
    since, until = choice.result_set.since, choice.result_set.until
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
