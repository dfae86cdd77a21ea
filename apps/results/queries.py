"""Reads of samples: an experiment's figures, grouped and summarised."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.bench import statistics
from apps.bench.comparison import Centre, Statistic, centre_of
from apps.bench.statistics import Mean, bounds
from apps.bench.sweep import likeness, setting_names
from apps.bench.toolkit import Metric, Parameter, Tool
from apps.campaigns.models import Experiment, Lane, Trial
from apps.campaigns.queries.visibility import visible
from apps.results import doubts, means, ways
from apps.results.doubts import Doubts, Mark
from apps.results.models import Result, Sample
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

# The pseudo factor of an experiment that measures several sets of nodes.
NODES = "nodes"


# One look into an index for each experiment and metric, however many samples these have.
_MEASURED = """
SELECT experiment, metric FROM unnest(%s::bigint[], %s::text[]) wanted (experiment, metric)
CROSS JOIN LATERAL (
    SELECT FROM results_sample s WHERE s.experiment_id = wanted.experiment AND s.metric = wanted.metric LIMIT 1
) found
"""


@dataclass(frozen=True)
class PointSample:
    """One sample with the point it belongs to."""

    trial: int
    point: int
    key: tuple[object, ...]
    value: float


@dataclass(frozen=True)
class Invalid:
    """A figure that comparisons leave out, and the names of the flags that make it so."""

    figure: PointSample
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class CellGroup:
    """The figures of one cell of the table: x value, the other factors' values, centre, summary, and their flags."""

    x: object
    others: tuple[object, ...]
    figures: tuple[PointSample, ...]
    summary: statistics.Summary
    centre: Centre
    mark: Mark | None = None

    def interval(self, metric: Metric, ceiling: float | None = None) -> bounds.Clipped:
        """Return the ends of the mean's interval of a metric, as far as such a figure can lie there at all."""
        values = [figure.value for figure in self.figures]
        return bounds.clipped(self.centre.low, self.centre.high, metric.unit, values, ceiling, metric.name)


@dataclass(frozen=True)
class FactorTable:
    """An experiment's figures of one metric by one factor; `others` names the factors that make the series.

    `invalid` counts the figures that a flag makes invalid, `reasons` them by flag; all are left out unless asked for.
    """

    metric: Metric
    x: str
    others: tuple[str, ...]
    groups: tuple[CellGroup, ...]
    mean: Mean
    invalid: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    includes_invalid: bool = False
    doubts: Doubts = field(default_factory=Doubts)

    @property
    def left_out(self) -> int:
        """Return how many figures the groups lack because they are invalid."""
        return 0 if self.includes_invalid else self.invalid

    @property
    def supposes_evenness(self) -> bool:
        """Return whether any interval supposes that the figures scatter evenly."""
        return any(statistics.assumes_of(group.centre.method) for group in self.groups)

    @property
    def mark(self) -> Mark | None:
        """Return the flags of all figures that are shown."""
        return self.doubts.about([item.trial for group in self.groups for item in group.figures], self.metric.name)

    @property
    def varies(self) -> bool:
        """Return whether the factor has more than one value."""
        return len({group.x for group in self.groups}) > 1


def results_of(user: User) -> QuerySet[Result]:
    """Return the results of the campaigns that the user may see."""
    return visible(Result.objects.all(), user, path="experiment__campaign")


def parameter_of(tool: Tool, name: str) -> Parameter | None:
    """Return the tool's parameter of that name, or the kernel setting's; None for nodes, which are no parameter."""
    if setting_names.is_setting(name):
        return setting_names.parameter_of(name)
    if not likeness.is_told(name):
        return likeness.PARAMETER
    return next((parameter for parameter in tool.parameters if parameter.name == name), None)


def metrics_of(tool: Tool) -> list[Metric]:
    """Return the tool's metrics, the primary one first."""
    return sorted(tool.metrics, key=lambda metric: not metric.primary)


def measured(experiments: Iterable[Experiment], tools: Mapping[str, Tool]) -> dict[int, list[Metric]]:
    """Return {experiment: the metrics of its tool that it has figures of}, the primary one first."""
    metrics = {item.pk: metrics_of(tools[item.tool]) for item in experiments}
    pairs = [(pk, metric.name) for pk, metrics_of_tool in metrics.items() for metric in metrics_of_tool]
    with connection.cursor() as cursor:
        cursor.execute(_MEASURED, [[pk for pk, _name in pairs], [name for _pk, name in pairs]])
        measured_pairs = set(cursor.fetchall())
    return {
        pk: [metric for metric in metrics_of_tool if (pk, metric.name) in measured_pairs]
        for pk, metrics_of_tool in metrics.items()
    }


def factors_of(experiment: Experiment) -> list[str]:
    """Return the names of what an experiment varies, in the order of its definition; nodes last if they differ."""
    names = [factor["name"] for factor in experiment.factors]
    lanes = experiment.lanes.count()
    return names + [NODES] if lanes > 1 or not names else names


def figures_of(experiment: Experiment, metric: str, factors: list[str]) -> tuple[list[PointSample], list[Invalid]]:
    """Return the valid samples of `metric` in the order of measurement, and those that a flag makes invalid.

    Warm-ups never count.
    """
    fields = ("trial_id", "trial__point", "trial__parameters", "trial__lane_id", "value", "counts", "result__flags")
    rows = (
        doubts.shown_samples()
        .filter(experiment=experiment, metric=metric)
        .order_by("result__recorded_at", "pk")
        .values_list(*fields)
    )
    figures: list[PointSample] = []
    invalid: list[Invalid] = []
    for trial, point, parameters, lane, value, counts, flags in rows:
        key = tuple(lane if name == NODES else parameters.get(name) for name in factors)
        figure = PointSample(trial=trial, point=point, key=key, value=value)
        if counts:
            figures.append(figure)
        else:
            invalid.append(Invalid(figure, doubts.reasons_of(flags, metric)))
    return figures, invalid


def values_of(experiment: Experiment, metric: str, *, lane: int) -> dict[int, list[float]]:
    """Return the figures of a metric on one lane, {point: values}, without warm-ups and invalid ones."""
    rows = Sample.objects.filter(experiment=experiment, metric=metric, trial__lane=lane, counts=True)
    by_point: dict[int, list[float]] = defaultdict(list)
    for point, value in rows.values_list("trial__point", "value"):
        by_point[point].append(value)
    return dict(by_point)


def table_of(
    experiment: Experiment, *, metric: Metric, x: str | None = None, include_invalid: bool = False
) -> FactorTable:
    """Return the figures of `metric` by factor `x` (the first factor unless given), one group a point.

    Invalid figures are left out, unless `include_invalid` asks for them.
    """
    factors = factors_of(experiment)
    factor = x if x in factors else factors[0]
    index = factors.index(factor)
    figures, invalid = figures_of(experiment, metric.name, factors)
    if include_invalid:
        figures = figures + [item.figure for item in invalid]
    cells: dict[tuple[object, ...], list[PointSample]] = defaultdict(list)
    for figure in figures:
        cells[figure.key].append(figure)
    raised = doubts.doubts_of([experiment.pk], [metric.name])
    mean = means.mean_of_experiments([experiment], metric)
    evenness = statistics.evenness_of([figure.value for figure in members] for members in cells.values())
    groups = [
        CellGroup(
            x=key[index],
            others=key[:index] + key[index + 1 :],
            figures=tuple(members),
            summary=statistics.summarise([figure.value for figure in members]),
            centre=centre_of([figure.value for figure in members], Statistic.MEAN, mean, evenness),
            mark=raised.about([figure.trial for figure in members], metric.name),
        )
        for key, members in cells.items()
    ]
    groups.sort(key=lambda group: (_sortable(group.x), tuple(_sortable(value) for value in group.others)))
    return FactorTable(
        metric=metric,
        x=factor,
        others=tuple(name for name in factors if name != factor),
        groups=tuple(groups),
        mean=mean,
        doubts=raised,
        invalid=len(invalid),
        reasons=tuple(Counter(name for item in invalid for name in item.reasons).most_common()),
        includes_invalid=include_invalid,
    )


def ends_of(lane: Lane, tool: Tool) -> tuple[tuple[str, int], ...]:
    """Return (role, its first node's id) for each role of the lane, in the order of the tool's roles."""
    return tuple((role.name, lane.roles[role.name][0]) for role in tool.roles if lane.roles.get(role.name))


def lane_names(experiment: Experiment) -> dict[int, str]:
    """Return {lane: "sender → receiver"} with the names of its nodes, "client ↔ server" where data goes both ways."""
    tool = toolbox.get_tool(experiment.tool)
    lanes = list(experiment.lanes.all())
    node_ids = {pk for lane in lanes for ids in lane.roles.values() for pk in ids}
    nodes = {node.pk: node.name for node in Node.objects.filter(pk__in=node_ids)}
    is_back, arrow = ways.arrow_of(tool, experiment)
    return {lane.pk: ways.lane_ends(lane.roles, tool, nodes, is_back=is_back, arrow=arrow) for lane in lanes}


def rows_of(experiment: Experiment) -> Iterator[dict[str, object]]:
    """Yield every sample of an experiment as a flat row, streamed from the database."""
    tool = toolbox.get_tool(experiment.tool)
    units = {metric.name: metric.unit for metric in tool.metrics}
    lanes = lane_names(experiment)
    rows = (
        Sample.objects.filter(experiment=experiment)
        .order_by("result_id", "metric")
        .values_list(
            "trial_id", "result__run_id", "trial__point", "trial__repetition", "trial__is_warmup", "trial__lane_id",
            "trial__parameters", "metric", "value", "counts", "result__tool_version", "result__recorded_at",
            "result__flags",
        )
    )  # fmt: skip
    for (
        trial,
        run,
        point,
        repetition,
        warmup,
        lane,
        parameters,
        metric,
        value,
        counts,
        version,
        at,
        flags,
    ) in rows.iterator(chunk_size=2000):
        yield {
            "trial": trial,
            "run": run,
            "point": point,
            "repetition": repetition,
            "warmup": warmup,
            "nodes": lanes[lane],
            **{name: parameters.get(name) for name in (parameter.name for parameter in tool.parameters)},
            "metric": metric,
            "value": value,
            "unit": units.get(metric, ""),
            "counts": counts,
            "tool_version": version,
            "recorded_at": at.isoformat(),
            # A flag of each of several nodes has one name.
            "flags": " ".join(dict.fromkeys(flag["name"] for flag in flags)),
        }


def trial_for(user: User, pk: int) -> Trial | None:
    """Return a trial that the user may see with what its page shows, or None."""
    trials = Trial.objects.select_related("campaign__team", "experiment", "lane", "invalid_by").prefetch_related(
        "runs__result__samples", "runs__result__series", "runs__result__earlier", "runs__timings"
    )
    return visible(trials, user, path="campaign").filter(pk=pk).first()


def _sortable(value: object) -> tuple[int, object]:
    if isinstance(value, bool) or value is None:
        return (0, str(value))
    return (1, value) if isinstance(value, int | float) else (2, str(value))
