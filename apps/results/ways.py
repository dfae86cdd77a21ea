"""Which way the data of stored figures went, as PostgreSQL and pages read it; `apps.bench.toolkit.ways` says it."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench.toolkit import Tool, goes_back
from apps.bench.toolkit.ways import BOTH, in_order
from apps.campaigns.models import Experiment, Lane
from apps.testbeds import patterns
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

__all__ = ["BOTH_WAYS", "arrow_for", "arrow_of", "back_in_sql", "lane_ends", "nodes_of", "sides_of"]

ONE_WAY, BOTH_WAYS = " → ", " ↔ "


def back_in_sql(tool: Tool, metric: str, *, parameters: str) -> str:
    """Return a condition of PostgreSQL: whether a figure's data went from the second role to the first."""
    name, value = (word.replace("'", "''").replace("%", "%%") for word in tool.backwards_at)
    is_backwards = f"coalesce({parameters}->>'{name}' = '{value}', false)"
    is_turned = goes_back(tool, {}, metric)
    return f"(NOT {is_backwards})" if is_turned else is_backwards


def sides_of(
    tool: Tool, metric: str, fixed: Mapping[str, Any], factors: Sequence[Mapping[str, Any]]
) -> tuple[bool, ...]:
    """Return which ways an experiment may have measured: False is forth, True is back."""
    name, _value = tool.backwards_at
    has_choice = any(parameter.name == name for parameter in tool.parameters)
    if has_choice and (name not in fixed or any(factor.get("name") == name for factor in factors)):
        return False, True
    return (goes_back(tool, fixed, metric),)


def arrow_of(tool: Tool, experiment: Experiment) -> tuple[bool, str]:
    """Return whether an experiment's data goes back, and the arrow between its first two roles: "↔" of both ways."""
    return arrow_for(tool, experiment.fixed, experiment.factors)


def arrow_for(tool: Tool, fixed: Mapping[str, Any], factors: Sequence[Mapping[str, Any]]) -> tuple[bool, str]:
    """Return the same of an experiment's fixed parameters and factors."""
    name, _value = tool.backwards_at
    is_varied = any(factor.get("name") == name for factor in factors)
    both = is_varied or fixed.get(name) == BOTH
    return (False, BOTH_WAYS) if both else (goes_back(tool, fixed), ONE_WAY)


def nodes_of(lane: Lane, parameters: Mapping[str, Any], metric: str) -> str:
    """Return "sender → receiver" with the names of the nodes that play a lane's roles at a setting."""
    tool = toolbox.get_tool(lane.experiment.tool)
    node_ids = {pk for ids in lane.roles.values() for pk in ids}
    names = dict(Node.objects.filter(pk__in=node_ids).values_list("pk", "name"))
    return lane_ends(lane.roles, tool, names, is_back=goes_back(tool, parameters, metric))


def lane_ends(
    roles: Mapping[str, Sequence[int]], tool: Tool, names: Mapping[int, str], *, is_back: bool, arrow: str = ONE_WAY
) -> str:
    """Return "sender → receiver (role: node)" of the nodes that play a lane's roles, by their names."""
    cast = {role.name: "+".join(names.get(pk, str(pk)) for pk in roles.get(role.name, [])) for role in tool.roles}
    played = {role: text for role, text in cast.items() if text}
    return patterns.told_ends(list(played), in_order(played.values(), is_back=is_back), arrow)
