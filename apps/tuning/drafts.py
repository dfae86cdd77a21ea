"""What rules name, as an experiment takes it: values as texts, nodes and file systems of the team by their names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.accounts.models import Team
from apps.bench import tools, units
from apps.bench.sweep import likeness, setting_names
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter, Tool, Value
from apps.campaigns import errors
from apps.testbeds.models import FileSystem, Node
from apps.toolbox import queries as toolbox

# The field under which a refusal stands.
FIELD = "finding"


def refuse(text: str, **values: object) -> errors.Refused:
    """Return the refusal of something that a finding asks for."""
    return errors.Refused({FIELD: Message(text, values)})


def tool_of(slug: str, team: Team) -> Tool:
    """Return a tool by its slug; errors.Refused if the team has none of that name."""
    try:
        return toolbox.get_tool(slug, team)
    except tools.UnknownTool:
        raise refuse(_("There is no tool “%(tool)s” here any more."), tool=slug) from None


def known_of(tool: Tool, names: Iterable[str]) -> dict[str, Parameter]:
    """Return the tool's parameters and those kernel settings that the names name."""
    return {item.name: item for item in tool.parameters} | setting_names.parameters_of(names)


def typed(tool: Tool, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return values typed and in base units; errors.Refused names one that the tool has not, or does not take."""
    parameters = known_of(tool, params)
    values: dict[str, Any] = {}
    for name, value in likeness.told_of(params).items():
        if name not in parameters:
            raise refuse(_("%(tool)s has no parameter “%(name)s”."), tool=tool.name, name=name)
        try:
            values[name] = parameters[name].clean(_whole(parameters[name], value))
        except units.UnitError as error:
            raise errors.Refused({name: error.message}) from None
    return values


def text_of(parameter: Parameter, value: Value) -> str:
    """Return a value as a person would write it, "" for what is left as it is."""
    return "" if value is None or value == "" else units.canonical_text(value, parameter.kind)


def list_of(parameter: Parameter, values: Sequence[Value]) -> str:
    """Return values as the text of a factor; errors.Refused for a text that can not stand in a list."""
    texts = [text_of(parameter, value) for value in values]
    if parameter.kind not in ("text", "choice"):
        if "" in texts:
            raise refuse(
                _("%(name)s has no value on one side, and a sweep can not leave it out."), name=parameter.name
            )
        return ", ".join(texts)
    if any('"' in text for text in texts):
        raise refuse(_("%(name)s has a value with a double quote, which no sweep can write."), name=parameter.name)
    return ", ".join(f'"{text}"' for text in texts)


def file_system_of(name: str, team: Team) -> FileSystem | None:
    """Return the team's file system of that name, None for none; errors.Refused if it is not in the inventory."""
    if not name:
        return None
    file_system = FileSystem.objects.filter(team=team, name=name).first()
    if file_system is None:
        raise refuse(_("The file system %(name)s is not in the inventory: describe it first."), name=name)
    return file_system


def nodes_named(names: Sequence[str], team: Team) -> tuple[Node, ...]:
    """Return the team's nodes of these names, in their order; errors.Refused names one that is not there."""
    nodes = {node.name: node for node in Node.objects.filter(team=team, name__in=names)}
    for name in names:
        if name not in nodes:
            raise refuse(_("The node %(name)s is not in the inventory: describe it first."), name=name)
    return tuple(nodes[name] for name in names)


def _whole(parameter: Parameter, value: Any) -> Any:
    """Return a whole number that JSON or arithmetic made a float as what it is."""
    is_whole = isinstance(value, float) and value.is_integer() and parameter.kind not in ("float", "duration")
    return int(value) if is_whole else value
