"""Which way the data of stored figures went, as PostgreSQL and pages read it; `apps.bench.toolkit.ways` says it."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench.toolkit import Tool, goes_back
from apps.bench.toolkit.ways import in_order
from apps.campaigns.models import Lane
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

__all__ = ["back_in_sql", "nodes_of", "sides_of"]


def back_in_sql(tool: Tool, metric: str, *, parameters: str) -> str:
    """Return a condition of PostgreSQL: whether a figure's data went from the second role to the first."""
    name, value = (word.replace("'", "''").replace("%", "%%") for word in tool.backwards_at)
    told = f"coalesce({parameters}->>'{name}' = '{value}', false)"
    is_turned = goes_back(tool, {}, metric)
    return f"(NOT {told})" if is_turned else told


def sides_of(
    tool: Tool, metric: str, fixed: Mapping[str, Any], factors: Sequence[Mapping[str, Any]]
) -> tuple[bool, ...]:
    """Return which ways an experiment may have measured: False is forth, True is back."""
    name, _value = tool.backwards_at
    has_choice = any(parameter.name == name for parameter in tool.parameters)
    if has_choice and (name not in fixed or any(factor.get("name") == name for factor in factors)):
        return False, True
    return (goes_back(tool, fixed, metric),)


def nodes_of(lane: Lane, parameters: Mapping[str, Any], metric: str) -> str:
    """Return "sender → receiver" with the names of the nodes that play a lane's roles at a setting."""
    tool = toolbox.get_tool(lane.experiment.tool)
    wanted = {pk for ids in lane.roles.values() for pk in ids}
    names = dict(Node.objects.filter(pk__in=wanted).values_list("pk", "name"))
    cast = ("+".join(names[pk] for pk in lane.roles.get(role.name, []) if pk in names) for role in tool.roles)
    return " → ".join(in_order(filter(None, cast), is_back=goes_back(tool, parameters, metric)))
