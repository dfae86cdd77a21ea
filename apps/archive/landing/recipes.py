"""The recipe as readers of a permanent id get it: one whose names are hidden is written once and kept."""

import re
from collections.abc import Mapping
from typing import Any

from apps.archive.landing import kept
from apps.archive.landing.redaction import Hidden, Names
from apps.bench.text import Message, _
from apps.campaigns import recipe_sizes, runnable
from apps.campaigns.models import Campaign
from apps.campaigns.runnable.shape import LONGEST_NAME, LONGEST_TEXT, LONGEST_TOOL, LONGEST_VALUE
from apps.core import messages
from apps.toolbox import queries as toolbox
from apps.toolbox.models import VERSION_MARK

# A name of a factor within an expression.
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def recipe_text(campaign: Campaign, names: Names) -> str:
    """Return the campaign's recipe as YAML, a remark in its place if it is larger than any that can be read again.

    LimitExceededError (429) if others are being written for the first time meanwhile.
    """
    if recipe_sizes.size_of(campaign) > recipe_sizes.MOST_BYTES:
        return "# " + messages.render(Message(_("The recipe is too large to be shown."))) + "\n"
    recipe = runnable.recipe_of(campaign)
    return _hidden_text(campaign, recipe, names) if isinstance(names, Hidden) else runnable.as_yaml(recipe)


def _hidden_text(campaign: Campaign, recipe: dict[str, Any], names: Hidden) -> str:
    keys = {tool: keys_of(tool, names) for tool in sorted({item["tool"] for item in recipe["experiments"]})}

    def write() -> str:
        return runnable.as_yaml(_hidden_recipe(recipe, names, keys))

    return kept.text_of(campaign, names, "recipe", write, sources=[recipe, keys])


def keys_of(tool: str, names: Names) -> dict[str, str]:
    """Return what the parameters and metrics of a team's tool are called for a reader: {name: what is read}.

    It is empty for a tool of the service, whose parameters and metrics have names of its own.
    """
    if not names.hidden or VERSION_MARK not in tool:
        return {}
    team_tool = toolbox.get_tool(tool)
    return names.keys(
        dict.fromkeys([*(item.name for item in team_tool.parameters), *(item.name for item in team_tool.metrics)])
    )


def _hidden_recipe(recipe: dict[str, Any], names: Names, keys: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the recipe with its texts as strangers read them; names of roles are the service's."""
    # What stands for a name may be longer than it, and a recipe is read again.
    longest = {"name": LONGEST_NAME, "goal": LONGEST_TEXT}
    texts = {key: names.text(recipe[key])[:limit] for key, limit in longest.items() if key in recipe}
    experiments = [_hidden_experiment(item, names, keys[item["tool"]]) for item in recipe["experiments"]]
    return {**recipe, **texts, "experiments": experiments}


def _hidden_experiment(experiment: dict[str, Any], names: Names, keys: Mapping[str, str]) -> dict[str, Any]:
    def expression(text: object) -> str:
        return names.text(_KEY.sub(lambda match: keys.get(match.group(), match.group()), str(text)))

    hidden = {
        **experiment,
        "name": names.text(experiment["name"])[:LONGEST_NAME],
        "tool": names.text(experiment["tool"])[:LONGEST_TOOL],
        "roles": {
            role: [{kind: names.name(name) for kind, name in player.items()} for player in players]
            for role, players in experiment["roles"].items()
        },
        "fixed": {
            keys.get(name, name): names.text(str(text))[:LONGEST_VALUE]
            for name, text in experiment.get("fixed", {}).items()
        },
    }
    if "file_system" in experiment:
        hidden["file_system"] = names.name(experiment["file_system"])
    if "factors" in experiment:
        hidden["factors"] = [
            {
                **factor,
                "name": keys.get(factor["name"], factor["name"]),
                "expression": expression(factor["expression"])[:LONGEST_TEXT],
            }
            for factor in experiment["factors"]
        ]
    if "exclusions" in experiment:
        hidden["exclusions"] = [expression(exclusion)[:LONGEST_VALUE] for exclusion in experiment["exclusions"]]
    if "zips" in experiment:
        hidden["zips"] = [[keys.get(name, name) for name in zipped] for zipped in experiment["zips"]]
    if "search_factor" in experiment:
        hidden["search_factor"] = keys.get(experiment["search_factor"], experiment["search_factor"])
    return hidden
