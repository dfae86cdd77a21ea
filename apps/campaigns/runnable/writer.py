"""Write the recipe of a campaign."""

from typing import Any

from apps.bench.sweep import likeness
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.runnable.shape import FORMAT, VERSION, ExperimentShape
from apps.core import yaml_writer

# What an experiment has under the same name in its model, and what a new one has unless told otherwise.
PLAIN = [
    str(name)
    for name in ExperimentShape().fields
    if name not in ("name", "tool", "roles", "file_system", "after", "factors", "zips", "fixed", "exclusions")
]
_COLLECTIONS = ("fixed", "factors", "zips", "exclusions")

Recipe = dict[str, Any]


def recipe_of(campaign: Campaign) -> Recipe:
    """Return what measures the campaign again: {FORMAT, "campaign", "name", "goal", "experiments"}, nodes by name."""
    experiments = list(
        campaign.experiments.select_related("file_system").prefetch_related("roles__node", "roles__cluster")
    )
    places = {experiment.pk: place for place, experiment in enumerate(experiments)}
    return {
        FORMAT: VERSION,
        "campaign": campaign.permanent_id,
        "name": campaign.name,
        **({"goal": campaign.goal} if campaign.goal else {}),
        "experiments": [_experiment(experiment, places) for experiment in experiments],
    }


def as_yaml(recipe: Recipe) -> str:
    """Return a recipe as a file."""
    return yaml_writer.write_yaml(recipe)


def names_in(recipe: Recipe) -> dict[str, list[str]]:
    """Return the names that a recipe needs, each once: {"nodes", "clusters", "file_systems"}."""
    players = [
        player
        for experiment in recipe["experiments"]
        for members in experiment["roles"].values()
        for player in members
    ]
    by_kind = {
        "nodes": [player["node"] for player in players if player.get("node")],
        "clusters": [player["cluster"] for player in players if player.get("cluster")],
        "file_systems": [item["file_system"] for item in recipe["experiments"] if item.get("file_system")],
    }
    return {kind: list(dict.fromkeys(names)) for kind, names in by_kind.items()}


def _experiment(experiment: Experiment, places: dict[int, int]) -> Recipe:
    roles: dict[str, list[dict[str, str]]] = {}
    for part in experiment.roles.all():
        player = {"node": part.node.name} if part.node else {"cluster": part.cluster.name if part.cluster else ""}
        roles.setdefault(part.role, []).append(player)
    values: Recipe = {"name": experiment.name, "tool": experiment.tool, "roles": roles}
    written = likeness.without_mark({name: getattr(experiment, name) for name in _COLLECTIONS})
    values |= {name: value for name, value in written.items() if value}
    if experiment.file_system:
        values["file_system"] = experiment.file_system.name
    if experiment.after_id is not None:
        values["after"] = places[experiment.after_id]
    usual = {field.name: field.get_default() for field in Experiment._meta.concrete_fields if field.name in PLAIN}
    return values | {name: value for name in PLAIN if (value := getattr(experiment, name)) != usual[name]}
