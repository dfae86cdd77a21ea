"""Figures of what one run measured over message sizes or over time: those of each experiment's best run."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from apps.campaigns.models import Experiment
from apps.reports.campaign.material import Material
from apps.reports.document import Block, Figure
from apps.results import charts
from apps.results.models import Result, Sample, Series

# Of an experiment so many metrics are drawn over each axis; a line has so many points at most.
MOST_METRICS = 2
MOST_POINTS = 400
# Fewer points than this are no course of anything.
LEAST_POINTS = 3
# So many experiments have such figures; each run's own page has all.
MOST_EXPERIMENTS = 40
Chart = dict[str, Any]


def best_runs(material: Material) -> dict[int, Result]:
    """Return {experiment: the result of its best valid run that has a course over sizes or time}."""
    experiments = [item for item in material.experiments if material.metrics[item.pk]][:MOST_EXPERIMENTS]
    result_ids: dict[int, int] = {}
    for is_lower in (False, True):
        first = ((item.pk, material.metrics[item.pk][0]) for item in experiments if not item.campaign.is_published)
        pairs = [(pk, metric.name) for pk, metric in first if (metric.higher_is_better is False) == is_lower]
        if not pairs:
            continue
        conditions = Q(pk__in=())
        for pk, name in pairs:
            conditions |= Q(experiment=pk, metric=name)
        rows = Sample.objects.filter(
            conditions, Exists(Series.objects.filter(result=OuterRef("result"))), counts=True
        )
        order = ("experiment_id", "value" if is_lower else "-value", "pk")
        result_ids |= dict(rows.order_by(*order).distinct("experiment_id").values_list("experiment_id", "result_id"))
    results = Result.objects.select_related("trial").prefetch_related("series").in_bulk(result_ids.values())
    return {experiment: results[pk] for experiment, pk in result_ids.items()}


def figures_of(material: Material, experiments: Iterable[Experiment], runs: dict[int, Result]) -> list[Block]:
    """Return the figures of some experiments' best runs."""
    blocks: list[Block] = []
    for experiment in experiments:
        if result := runs.get(experiment.pk):
            blocks += _figures(material, experiment, result)
    return blocks


def _figures(material: Material, experiment: Experiment, result: Result) -> list[Block]:
    by_axis: dict[str, list[Chart]] = {"size": [], "time": []}
    charts_of_run: Any = charts.series_of(result)["charts"]
    for chart in charts_of_run:
        if max((len(line["points"]) for line in chart["series"]), default=0) >= LEAST_POINTS:
            by_axis[chart["x"]["name"]].append(chart)
    texts = {
        "size": _("%(name)s: %(metric)s by message size, in the best run (trial %(trial)s)"),
        "time": _("%(name)s: %(metric)s over time, in the best run (trial %(trial)s)"),
    }
    blocks: list[Block] = []
    for axis, members in by_axis.items():
        for chart in members[:MOST_METRICS]:
            metric = chart["metric"]
            words = {
                "name": material.title_of(experiment),
                "metric": metric["label"],
                "trial": result.trial.position + 1,
            }
            key = f"{axis}-{material.key(experiment)}-{metric['name']}"
            blocks.append(Figure(key, texts[axis] % words, _thinned(chart)))
    return blocks


def _thinned(chart: Chart) -> Chart:
    """Return a chart as reports draw it: the sum alone where there are many streams, and no more points than show."""
    lines: Sequence[Chart] = chart["series"]
    if len(lines) > 1 and (total := [line for line in lines if line["label"] == _("sum")]):
        lines = total
    return {
        "kind": "line",
        "metric": {**chart["metric"], "log": False},
        "x": chart["x"],
        "series": [
            {"label": line["label"] if len(lines) > 1 else "", "points": _every(line["points"])} for line in lines
        ],
        "lines": [],
    }


def _every(points: Sequence[Chart]) -> list[Chart]:
    step = -(-len(points) // MOST_POINTS)
    return list(points[::step])
