"""What the page of a permanent id says of a campaign, with names or without."""

import json
from dataclasses import dataclass
from typing import Any

from apps.bench.tools.base import Metric
from apps.campaigns import queries as campaigns
from apps.campaigns import runnable
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.queries import Progress
from apps.results import charts, queries
from apps.results.landing.redaction import Names
from apps.results.models import Result
from apps.toolbox import queries as toolbox

# Points of an experiment that the page lists; the table says how many there are.
MOST_ROWS = 100


@dataclass(frozen=True)
class Measured:
    """One experiment: its primary metric by its first factor; `rows` are (value, other factors, summary)."""

    position: int
    name: str
    tool: str
    metric: Metric
    factor: str
    rows: list[tuple[str, str, Any]]
    points: int
    left_out: int
    chart: dict[str, Any]

    @property
    def chart_json(self) -> str:
        """Return the chart as the page holds it."""
        return json.dumps(self.chart)


@dataclass(frozen=True)
class Described:
    """A campaign as its page shows it."""

    name: str
    goal: str
    versions: list[str]
    progress: Progress
    experiments: list[Measured]
    recipe: str


def describe(campaign: Campaign, names: Names) -> Described:
    """Return what a reader is told of the campaign."""
    progress = campaigns.progress_of([campaign.pk])[campaign.pk]
    rows = Result.objects.filter(experiment__campaign=campaign).order_by().values_list("tool", "tool_version")
    return Described(
        name=names.text(campaign.name),
        goal=names.text(campaign.goal),
        versions=sorted(f"{tool} {version}".strip() for tool, version in rows.distinct()),
        progress=progress,
        experiments=[_measured(experiment, names) for experiment in campaign.experiments.all()],
        recipe=recipe_text(campaign, names),
    )


def recipe_text(campaign: Campaign, names: Names) -> str:
    """Return the campaign's recipe as YAML."""
    recipe = runnable.recipe_of(campaign)
    return runnable.as_yaml(_hidden_recipe(recipe, names) if names.hidden else recipe)


def _hidden_recipe(recipe: dict[str, Any], names: Names) -> dict[str, Any]:
    """Return the recipe with its texts as strangers read them; names of tools, roles and factors are nobody's."""
    experiments = [
        {
            **experiment,
            "name": names.text(experiment["name"]),
            "roles": {
                role: [{kind: names.text(name) for kind, name in player.items()} for player in players]
                for role, players in experiment["roles"].items()
            },
            **({"file_system": names.text(experiment["file_system"])} if "file_system" in experiment else {}),
            "fixed": {name: names.text(str(text)) for name, text in experiment.get("fixed", {}).items()},
        }
        for experiment in recipe["experiments"]
    ]
    texts: dict[str, Any] = {key: names.text(recipe[key]) for key in ("name", "goal") if key in recipe}
    return {**recipe, **texts, "experiments": experiments}


def _hidden_chart(chart: dict[str, Any], names: Names) -> dict[str, Any]:
    for line in (*chart["series"], *chart["lines"]):
        line["label"] = names.text(line.get("label") or "")
    for series in chart["series"]:
        for point in series["points"]:
            if isinstance(point["x"], str):
                point["x"] = names.text(point["x"])
    return chart


def _measured(experiment: Experiment, names: Names) -> Measured:
    tool = toolbox.get_tool(experiment.tool)
    table, found = charts.data_for(experiment, metric=None, x=None)
    chart: dict[str, Any] = dict(found)
    lanes = {pk: names.text(text) for pk, text in queries.lane_names(experiment).items()}
    parameter = queries.parameter_of(tool, table.x)
    return Measured(
        position=experiment.position,
        name=names.text(experiment.name),
        tool=tool.name,
        metric=table.metric,
        factor=charts.label_of_factor(tool, table.x),
        rows=[
            (
                charts.text_of(parameter, group.x, lanes),
                names.text(charts.label_of(tool, table.others, group.others, lanes)),
                group.summary,
            )
            for group in table.groups[:MOST_ROWS]
        ],
        points=len(table.groups),
        left_out=table.left_out,
        chart=_hidden_chart(chart, names) if names.hidden else chart,
    )
