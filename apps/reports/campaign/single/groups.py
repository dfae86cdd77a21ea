"""Measurements that vary nothing, put together by tool: their figures, and which are the two ways of one path."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.utils.translation import gettext as _

from apps.bench.statistics import Mean
from apps.bench.toolkit import Metric, Tool
from apps.bench.toolkit.ways import BOTH
from apps.campaigns.models import Experiment, Lane
from apps.reports.campaign.material import Material
from apps.results import means
from apps.results.doubts import Doubts
from apps.results.models import Sample
from apps.results.theory import Theory, theory_of

# So many metrics stand side by side.
MOST_METRICS = 4


class MetricFigures(NamedTuple):
    """The figures of a metric in the order of measurement, and their trials."""

    values: list[float]
    trials: list[int]


@dataclass
class SingleMeasurement:
    """One measurement: its figures by metric; `back` has those of the same ends the other way round."""

    experiment: Experiment
    lane: Lane
    figures: dict[str, MetricFigures]
    back: "SingleMeasurement | None" = None

    @cached_property
    def theory(self) -> Theory:
        """Return what arithmetic says of its path."""
        return theory_of(self.experiment)

    def of(self, metric: Metric, *, back: bool) -> MetricFigures | None:
        """Return the figures of a metric, those the other way round if asked."""
        part = self.back if back else self
        return part.figures.get(metric.name) if part else None


@dataclass
class Group:
    """The measurements of one tool in one campaign; `heads` are the columns' titles with their metric."""

    tool: Tool
    entries: list[SingleMeasurement]
    metrics: list[Metric]
    both_ways: bool = False
    heads: list[tuple[str, Metric, bool]] = field(default_factory=list)
    doubts: Doubts = field(default_factory=Doubts)
    _means: dict[str, Mean] = field(default_factory=dict)

    def mean_of(self, metric: Metric) -> Mean:
        """Return the mean that is right for a metric's figures."""
        if metric.name not in self._means:
            experiments = {part.experiment.pk: part.experiment for entry in self.entries for part in parts_of(entry)}
            self._means[metric.name] = means.mean_of_experiments(experiments.values(), metric)
        return self._means[metric.name]


def is_single(material: Material, experiment: Experiment) -> bool:
    """Return whether an experiment varies nothing, neither parameters nor nodes."""
    return not experiment.factors and len(material.lanes[experiment.pk]) == 1


def figures_of(experiments: Sequence[int]) -> dict[int, dict[str, MetricFigures]]:
    """Return {experiment: {metric: figures}} of what counts."""
    rows = (
        Sample.objects.filter(experiment__in=experiments, counts=True)
        .values_list("experiment_id", "metric")
        .annotate(
            figures=ArrayAgg("value", order_by="trial__position"),
            trials=ArrayAgg("trial_id", order_by="trial__position"),
        )
        .order_by("experiment_id", "metric")
    )
    figures_by_metric: dict[int, dict[str, MetricFigures]] = defaultdict(dict)
    for experiment, metric, figures, trials in rows:
        figures_by_metric[experiment][metric] = MetricFigures(figures, trials)
    return figures_by_metric


def group_of(
    material: Material, members: Sequence[Experiment], figures: dict[int, dict[str, MetricFigures]], doubts: Doubts
) -> Group:
    """Return the measurements of one tool as a group; what was measured both ways is one entry."""
    tool = material.tool(members[0])
    entries = [SingleMeasurement(item, material.lanes[item.pk][0], figures.get(item.pk, {})) for item in members]
    measured_metrics = {
        metric.name for entry in entries for metric in material.metrics[entry.experiment.pk] if entry.figures
    }
    metrics = [
        metric
        for metric in sorted(tool.metrics, key=lambda item: not item.primary)
        if metric.name in measured_metrics
    ]
    joined = _both_ways(material, entries)
    group = Group(tool, joined, metrics[:MOST_METRICS], both_ways=any(entry.back for entry in joined), doubts=doubts)
    if group.both_ways:
        # Each way of each metric has its column: what is said of two ends is said of both.
        group.metrics = metrics[:1]
    for metric in group.metrics:
        group.heads.append((_(metric.label), metric, False))
        if group.both_ways:
            words = {"metric": _(metric.label)}
            group.heads[-1] = (_("%(metric)s, first to second") % words, metric, False)
            group.heads.append((_("%(metric)s, second to first") % words, metric, True))
    return group


def _both_ways(material: Material, entries: Sequence[SingleMeasurement]) -> list[SingleMeasurement]:
    """Return the entries with those of the same ends and settings the other way round joined to the first of them."""
    joined: list[SingleMeasurement] = []
    open_pairs: dict[tuple[object, ...], SingleMeasurement] = {}
    for entry in entries:
        ends, turned = material.in_order(entry.lane), material.tool(entry.experiment).backwards_at[0]
        fixed = entry.experiment.fixed.items()
        settings = tuple(sorted((name, str(text)) for name, text in fixed if name != turned or text == BOTH))
        if len(ends) == 2 and (first := open_pairs.pop((ends[1], ends[0], settings), None)):
            first.back = entry
            continue
        joined.append(entry)
        if len(ends) == 2:
            open_pairs[ends[0], ends[1], settings] = entry
    return joined


def parts_of(entry: SingleMeasurement) -> list[SingleMeasurement]:
    """Return an entry, and the one the other way round if there is one."""
    return [entry, entry.back] if entry.back else [entry]
