"""The trials of a campaign as a table of figures: what was swept, what was measured, and what is doubtful."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.expressions import F
from django.db.models.fields.json import KeyTransform
from django.utils.translation import gettext as _

from apps.bench import units
from apps.bench.sweep import setting_names
from apps.bench.toolkit import Metric, Parameter, Tool
from apps.campaigns.models import Experiment, Run, Trial
from apps.results import charts, queries
from apps.results.models import Sample

# So many metrics are columns unless others are chosen, the primary ones first.
USUAL_METRICS = 5
TRIAL_FIELDS = {
    "trial": "pk", "repetition": "repetition", "state": "state", "attempts": "attempts", "finished": "finished_at",
}  # fmt: skip


# {(trial, metric): the figure of the latest result}.
Figures = Mapping[tuple[int, str], Sample]


@dataclass(frozen=True)
class TrialColumn:
    """A factor or a metric that may be a column; `name` is what an address says of it."""

    name: str
    label: str
    is_metric: bool = False
    is_shown: bool = True
    extent: str = ""


@dataclass(frozen=True)
class TrialCell:
    """A value as people read it; of a figure that does not count it says so."""

    text: str
    counts: bool = True
    is_metric: bool = False


@dataclass(frozen=True)
class TrialRow:
    """A trial with a cell for each column, and how long (s) its last attempt took, None while it has none."""

    trial: Trial
    cells: tuple[TrialCell, ...]
    duration_s: float | None


@dataclass(frozen=True)
class TrialSheet:
    """What the trials of one experiment can be shown by."""

    factors: Mapping[str, Parameter]
    metrics: Mapping[str, Metric]

    @property
    def usual(self) -> list[str]:
        """Return the metrics that are columns unless others are chosen."""
        return list(self.metrics)[:USUAL_METRICS]


def sheet_of(experiment: Experiment, tool: Tool) -> TrialSheet:
    """Return what the trials of an experiment can be shown by: its factors, and the metrics it has figures of."""
    metrics = queries.measured([experiment], {experiment.tool: tool})[experiment.pk]
    return TrialSheet(_factors_of(experiment, tool), {metric.name: metric for metric in metrics})


def _factors_of(experiment: Experiment, tool: Tool) -> dict[str, Parameter]:
    """Return what differs from trial to trial, in the order of its definition."""
    names = [factor["name"] for factor in experiment.factors]
    parameters = (*tool.parameters, *setting_names.shown_parameters_of(names).values())
    by_name = {parameter.name: parameter for parameter in parameters}
    return {name: by_name[name] for name in names if name in by_name}


def ordered(rows: QuerySet[Trial], sheet: TrialSheet | None, sort: str) -> QuerySet[Trial]:
    """Return trials in the order that an address asks for, "-" before a name turning it round; those without last."""
    name = sort.removeprefix("-")
    if name in TRIAL_FIELDS:
        key = F(TRIAL_FIELDS[name])
    elif sheet and name in sheet.factors:
        rows = rows.annotate(sort_key=KeyTransform(name, "parameters"))
        key = F("sort_key")
    elif sheet and name in sheet.metrics:
        figures = Sample.objects.filter(trial=OuterRef("pk"), metric=name).order_by("-result__recorded_at", "-pk")
        rows = rows.annotate(sort_key=Subquery(figures.values("value")[:1]))
        key = F("sort_key")
    else:
        return rows.order_by("experiment", "position")
    return rows.order_by(
        key.desc(nulls_last=True) if sort.startswith("-") else key.asc(nulls_last=True), "experiment", "position"
    )


def columns_of(sheet: TrialSheet, chosen: Sequence[str], rows: QuerySet[Trial]) -> list[TrialColumn]:
    """Return the columns that there are; of the metrics shown between what the figures lie that count."""
    asked = [name for name in chosen if name in sheet.factors or name in sheet.metrics]
    names = set(asked or [*sheet.factors, *sheet.usual])
    extents = _extents(rows.order_by(), [name for name in sheet.metrics if name in names])
    return [
        *(TrialColumn(name, _(item.label), is_shown=name in names) for name, item in sheet.factors.items()),
        *(
            TrialColumn(name, _(item.label), True, name in names, _extent_text(extents.get(name), item))
            for name, item in sheet.metrics.items()
        ),
    ]


def rows_of(
    trials: Sequence[Trial], sheet: TrialSheet | None, columns: Iterable[TrialColumn], tools: Mapping[str, Tool]
) -> list[TrialRow]:
    """Return a row for each trial; without a sheet its cells are what was swept and its primary figure."""
    figures = _figures(trials)
    durations = _durations(trials)
    chosen = [column for column in columns if column.is_shown]
    return [
        TrialRow(
            trial,
            tuple(_cell(column, trial, sheet, figures) for column in chosen)
            if sheet
            else _cells_of_any(trial, tools[trial.experiment.tool], figures),
            durations.get(trial.pk),
        )
        for trial in trials
    ]


def _cell(column: TrialColumn, trial: Trial, sheet: TrialSheet, figures: Figures) -> TrialCell:
    if not column.is_metric:
        return TrialCell(_swept_text(sheet.factors[column.name], trial))
    return _figure(figures.get((trial.pk, column.name)), sheet.metrics[column.name])


def _cells_of_any(trial: Trial, tool: Tool, figures: Figures) -> tuple[TrialCell, ...]:
    factors = _factors_of(trial.experiment, tool).values()
    swept = [f"{_(item.label)} {_swept_text(item, trial)}" for item in factors]
    for metric in queries.metrics_of(tool):
        if sample := figures.get((trial.pk, metric.name)):
            cell = _figure(sample, metric)
            return TrialCell(", ".join(swept)), TrialCell(
                f"{_(metric.label)} {cell.text}", cell.counts, is_metric=True
            )
    return TrialCell(", ".join(swept)), TrialCell("–", is_metric=True)


def _swept_text(parameter: Parameter, trial: Trial) -> str:
    return charts.text_of(parameter, trial.parameters.get(parameter.name), {})


def _figure(sample: Sample | None, metric: Metric) -> TrialCell:
    if sample is None:
        return TrialCell("–", is_metric=True)
    return TrialCell(units.format_quantity(sample.value, metric.unit), sample.counts, is_metric=True)


def _figures(trials: Sequence[Trial]) -> dict[tuple[int, str], Sample]:
    """Return {(trial, metric): its figure of the latest result}, in one query."""
    samples = Sample.objects.filter(trial__in=[trial.pk for trial in trials]).order_by("result__recorded_at", "pk")
    return {(sample.trial_id, sample.metric): sample for sample in samples}


def _durations(trials: Sequence[Trial]) -> dict[int, float]:
    """Return {trial: how long its last attempt took, s}, in one query."""
    runs = Run.objects.filter(trial__in=[trial.pk for trial in trials], started_at__isnull=False).order_by("attempt")
    times: dict[int, timedelta] = {
        trial: end - start for trial, start, end in runs.values_list("trial", "started_at", "ended_at") if end
    }
    return {trial: time.total_seconds() for trial, time in times.items()}


def _extents(rows: QuerySet[Trial], metrics: Sequence[str]) -> dict[str, tuple[float, float, int]]:
    """Return {metric: (min, max, n) of the figures that count}, in one query."""
    samples = Sample.objects.filter(trial__in=rows.values("pk"), metric__in=metrics, counts=True)
    extents = samples.values_list("metric").annotate(low=Min("value"), high=Max("value"), n=Count("pk")).order_by()
    return {metric: (low, high, n) for metric, low, high, n in extents}


def _extent_text(extent: tuple[float, float, int] | None, metric: Metric) -> str:
    if extent is None:
        return ""
    low, high, n = extent
    ends = [units.format_quantity(value, metric.unit) for value in (low, high)]
    return f"{ends[0]} (n = {n})" if low == high else f"{ends[0]} – {ends[1]} (n = {n})"
