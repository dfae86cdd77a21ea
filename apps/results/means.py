"""Which mean stands for figures measured alike, so that the same figures have one value on every page."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from apps.bench import comparison
from apps.bench.comparison import Statistic
from apps.bench.statistics import Mean
from apps.bench.toolkit import Metric, Tool, right_mean
from apps.campaigns.models import Experiment, Trial
from apps.toolbox import queries as toolbox

# Whether a time was set for a trial, of its parameters in PostgreSQL.
TIMED = "coalesce({parameters}->'duration' > '0', false)"


def value_of(values: Sequence[float], kind: Mean) -> float:
    """Return that mean of one or more figures; the arithmetic one where a rate is zero, which has no other."""
    return comparison.centre_of(values, Statistic.MEAN, kind).value


def in_sql(tool: Tool, metric: Metric, *, value: str, timed: str) -> str:
    """Return the mean of a group of figures as PostgreSQL reckons it; `value` and `timed` are of a row."""
    kind, _why = right_mean([tool], (), metric.unit)
    if kind is Mean.ARITHMETIC:
        return f"avg({value})"
    harmonic = f"count(*) / sum(1 / nullif({value}, 0))"
    return f"CASE WHEN min({value}) > 0 AND NOT bool_or({timed}) THEN {harmonic} ELSE avg({value}) END"


def label_of(kind: Mean) -> str:
    """Return what figures are called that are such means."""
    return _("Harmonic mean") if kind is Mean.HARMONIC else _("Mean")


def mean_of_experiments(experiments: Iterable[Experiment], metric: Metric) -> Mean:
    """Return the mean that is right for all figures that experiments have of a metric."""
    listed = list(experiments)
    tools = {item.tool: toolbox.get_tool(item.tool) for item in listed}.values()
    kind, _why = right_mean(tools, (), metric.unit)
    # Whether a time was set matters only where amounts may have been.
    if kind is Mean.HARMONIC:
        kind, _why = right_mean(tools, _timed(listed), metric.unit)
    return kind


def _timed(experiments: Iterable[Experiment]) -> list[Mapping[str, Any]]:
    """Return the setting of a trial that a time was set for, if there is one."""
    trials = Trial.objects.filter(experiment__in=experiments, parameters__duration__gt=0).order_by()
    return list(trials.values_list("parameters", flat=True)[:1])
