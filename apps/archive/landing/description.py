"""What the page of a permanent id says of a campaign, with names or without."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from apps.archive.landing import kept
from apps.archive.landing.recipes import keys_of, recipe_text
from apps.archive.landing.redaction import Names
from apps.bench import strict_json
from apps.bench.comparison import Centre
from apps.bench.statistics import Summary
from apps.bench.toolkit import Metric
from apps.campaigns import queries as campaigns
from apps.campaigns.models import Campaign, Experiment, Tombstone
from apps.campaigns.queries import Progress
from apps.results import charts, intervals, means, queries
from apps.results.doubts import Mark
from apps.results.models import Result
from apps.results.theory import theory_of
from apps.toolbox import queries as toolbox

# Points of an experiment that the page lists; the table says how many there are.
MOST_ROWS = 100
# Of the tools' versions, of which each result may have one of its own.
MOST_VERSIONS = 20


@dataclass(frozen=True)
class PointFigures:
    """The figures of one point: their mean, its interval as far as there is one, their summary, and their flags."""

    centre: Centre
    ends: intervals.Ends | None
    summary: Summary
    mark: Mark | None


@dataclass(frozen=True)
class MeasuredExperiment:
    """One experiment: its primary metric by its first factor; `rows` are (value, other factors, figures)."""

    position: int
    name: str
    tool: str
    metric: Metric
    factor: str
    rows: list[tuple[str, str, "PointFigures"]]
    mean: str
    points: int
    left_out: int
    chart: dict[str, Any]

    @property
    def chart_json(self) -> str:
        """Return the chart as the page holds it."""
        return strict_json.dumps(self.chart)


@dataclass(frozen=True)
class Described:
    """A campaign as its page shows it."""

    name: str
    goal: str
    versions: list[str]
    all_versions: int
    progress: Progress
    recipe: str


def describe(campaign: Campaign, names: Names) -> Described:
    """Return what a reader is told of the campaign, but for its figures.

    LimitExceededError (429) if another text of the team is being written meanwhile.
    """
    progress = campaigns.progress_of([campaign.pk])[campaign.pk]
    rows = Result.objects.filter(experiment__campaign=campaign).order_by("tool", "tool_version")
    versions = rows.values_list("tool", "tool_version").distinct()
    tools = [f"{tool} {version}".strip() for tool, version in versions[:MOST_VERSIONS]]
    name, goal, *own_versions = _shown(campaign, names, [campaign.name, campaign.goal, *tools])
    return Described(
        name=name,
        goal=goal,
        versions=own_versions,
        all_versions=versions.count(),
        progress=progress,
        recipe=recipe_text(campaign, names),
    )


def _shown(campaign: Campaign, names: Names, texts: list[str]) -> list[str]:
    """Return texts as a reader may see them: those whose names are hidden are written once and kept."""

    def write() -> str:
        return strict_json.dumps([names.text(text) for text in texts])

    text = kept.text_of(campaign, names, "description", write, sources=texts) if names.hidden else write()
    return list(json.loads(text))


def tombstone_texts(stone: Tombstone, names: Names) -> dict[str, str]:
    """Return what a reader is told of a deleted campaign: its `name`, the `reason`, and who it was `deleted_by`."""
    texts = {"name": names.text(stone.name), "reason": names.text(stone.reason)}
    deleted_by = names.name(stone.deleted_by_name)
    if names.hidden and deleted_by == stone.deleted_by_name != "":
        # Who never was of the team has no number in it: an administrator of the service.
        deleted_by = _("somebody")
    return {**texts, "deleted_by": deleted_by}


def _hidden_mark(mark: Mark | None, names: Names) -> Mark | None:
    """Return the mark with what its flags say told as the page tells everything."""
    return mark and replace(mark, flags=tuple(item._replace(text=names.text(item.text)) for item in mark.flags))


def _hidden_chart(chart: dict[str, Any], names: Names, keys: Mapping[str, str]) -> dict[str, Any]:
    for axis in (chart["x"], chart["metric"]):
        axis["name"] = keys.get(axis["name"], axis["name"])
        if keys:
            axis["unit"] = names.text(axis["unit"])
        axis["label"] = _label(axis["label"], names, keys)
    for line in (*chart["series"], *chart["lines"]):
        line["label"] = names.text(line.get("label") or "")
    for series in chart["series"]:
        for point in series["points"]:
            if isinstance(point["x"], str):
                point["x"] = names.text(point["x"])
    return chart


def _label(label: str, names: Names, keys: Mapping[str, str]) -> str:
    """Return a label as readers see it; where a team's tool gives none it is the name."""
    return keys.get(label) or names.text(label)


def measured(experiment: Experiment, names: Names) -> MeasuredExperiment:
    """Return the figures of one experiment as a reader sees them."""
    tool = toolbox.get_tool(experiment.tool)
    table, data = charts.data_for(experiment, metric=None, x=None)
    chart: dict[str, Any] = dict(data)
    keys = keys_of(experiment.tool, names)
    lanes = {pk: names.text(text) for pk, text in queries.lane_names(experiment).items()}
    parameter = queries.parameter_of(tool, table.x)
    ceiling = charts.ceiling_of(table.metric.unit, theory_of(experiment))
    return MeasuredExperiment(
        position=experiment.position,
        name=names.text(experiment.name),
        tool=names.text(tool.name),
        metric=replace(
            table.metric,
            name=keys.get(table.metric.name, table.metric.name),
            unit=names.text(table.metric.unit) if keys else table.metric.unit,
            label=_label(table.metric.label, names, keys),
        ),
        factor=_label(charts.label_of_factor(tool, table.x), names, keys),
        rows=[
            (
                names.text(charts.text_of(parameter, group.x, lanes)),
                names.text(charts.label_of(tool, table.others, group.others, lanes)),
                PointFigures(
                    centre=group.centre,
                    ends=intervals.ends_of(group, table.metric, ceiling),
                    summary=group.summary,
                    mark=_hidden_mark(group.mark, names),
                ),
            )
            for group in table.groups[:MOST_ROWS]
        ],
        mean=means.label_of(table.mean),
        points=len(table.groups),
        left_out=table.left_out,
        chart=_hidden_chart(chart, names, keys) if names.hidden else chart,
    )
