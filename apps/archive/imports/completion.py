"""What was found is completed by whoever sent it: nodes, parameters that no output tells, names; checked here."""

from collections.abc import Mapping
from typing import Any

from apps.archive.imports.models import Import
from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Tool
from apps.campaigns.errors import Refused
from apps.testbeds.models import FileSystem, Node
from apps.toolbox import queries as toolbox

Json = dict[str, Any]
Errors = dict[str, Message]

LONGEST_NAME = 200
_NO_NODE = _("Choose the node that this was measured on; add it to the inventory first if it is not there.")
_KNOWN = {"name", "include", "roles", "parameters", "alike", "file_system"}


def checked(imported: Import, answers: Mapping[str, Mapping[str, Any]]) -> dict[str, Json]:
    """Return the choices for all groups as they are stored; Refused names each wrong field (groups.0.roles.client).

    What a group leaves out of its roles is as in the first group that is included.
    """
    wrong: Errors = {}
    keys = [group["key"] for group in imported.groups]
    for key in (key for key in answers if key not in keys):
        wrong[f"groups.{key}"] = Message(_("There is no such group in this import."))
    team = imported.team_id
    nodes = set(Node.objects.filter(team=team).values_list("pk", flat=True))
    file_systems = set(FileSystem.objects.filter(team=team).values_list("pk", flat=True))
    choices: dict[str, Json] = {}
    first: Json = {}
    for number, group in enumerate(imported.groups):
        raw = answers.get(group["key"], {})
        field = f"groups.{number}"
        choice = _checked(group, raw, first, nodes, file_systems, field, wrong)
        choices[group["key"]] = choice
        if choice["include"] and not first:
            first = choice["roles"]
    _ask_once(wrong)
    if not any(choice["include"] for choice in choices.values()):
        wrong.setdefault("groups", Message(_("Nothing is chosen: include at least one group.")))
    if wrong:
        raise Refused(wrong)
    return choices


def _checked(
    group: Json,
    raw: Mapping[str, Any],
    first: Json,
    nodes: set[int],
    file_systems: set[int],
    field: str,
    wrong: Errors,
) -> Json:
    tool = toolbox.get_tool(group["tool"])
    own: Errors = {name: Message(_("A group has no field of this name.")) for name in raw if name not in _KNOWN}
    choice: Json = {
        "name": str(raw.get("name") or default_name(tool, group))[:LONGEST_NAME],
        "include": raw.get("include", True) is not False,
        "roles": {},
        "parameters": {},
        "alike": raw.get("alike") is True,
        "file_system": None,
    }
    if choice["include"]:
        choice["roles"] = _roles(tool, group, raw.get("roles") or {}, first, nodes, own)
        choice["parameters"] = _parameters(tool, group, raw.get("parameters") or {}, own)
        system = raw.get("file_system") or None
        if system is not None and system not in file_systems:
            own["file_system"] = Message(_("Choose one of the team's file systems."))
        choice["file_system"] = system
    wrong |= {f"{field}.{name}": message for name, message in own.items()}
    return choice


def _ask_once(wrong: Errors) -> None:
    """Ask for the node of a role at the first group where it is missing or wrong: the others take it from there."""
    roles: set[str] = set()
    for field in [field for field in wrong if ".roles." in field]:
        role = field.rpartition(".")[2]
        if role in roles and wrong[field].msgid == _NO_NODE:
            del wrong[field]
        roles.add(role)


def default_name(tool: Tool, group: Json) -> str:
    """Return what the experiment of a group is called unless somebody says otherwise."""
    return f"{tool.name}: {group['folder']}" if group["folder"] else tool.name


def _roles(tool: Tool, group: Json, answer: Any, first: Json, nodes: set[int], wrong: Errors) -> dict[str, list[int]]:
    if not isinstance(answer, Mapping):
        wrong["roles"] = Message(_("Roles are given as {role: [ids of nodes]}."))
        return {}
    names = {role.name for role in tool.roles}
    for name in (name for name in answer if name not in names):
        wrong[f"roles.{name}"] = Message(_("%(tool)s has no role of this name."), {"tool": tool.name})
    roles: dict[str, list[int]] = {}
    for role in tool.roles:
        answered = answer.get(role.name) or first.get(role.name) or []
        members = list(dict.fromkeys(answered if isinstance(answered, list) else [answered]))
        field = f"roles.{role.name}"
        if any(isinstance(member, bool) or not isinstance(member, int) or member not in nodes for member in members):
            wrong[field] = Message(_("Choose among the team's nodes."))
        elif len(members) > 1 and not role.many:
            wrong[field] = Message(_("Only one node plays this role."))
        elif not members and role.name not in group["told_roles"]:
            wrong[field] = Message(_NO_NODE)
        else:
            roles[role.name] = members
    players = [node for members in roles.values() for node in members]
    if len(set(players)) < len(players) and not wrong:
        wrong[f"roles.{tool.roles[-1].name}"] = Message(_("One node cannot play two roles: choose another."))
    return {role: members for role, members in roles.items() if members}


def _parameters(tool: Tool, group: Json, answer: Any, wrong: Errors) -> dict[str, Any]:
    """Return what was said of parameters, in base units; outputs that tell them themselves are believed first."""
    if not isinstance(answer, Mapping):
        wrong["parameters"] = Message(_("Parameters are given as {name: value}."))
        return {}
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    values: dict[str, Any] = {}
    for name, raw in answer.items():
        if name not in parameters:
            wrong[f"parameters.{name}"] = Message(_("%(tool)s has no parameter of this name."), {"tool": tool.name})
        elif raw is not None and (raw != "" or parameters[name].default == ""):
            # An empty text that is the tool's default says that nothing was chosen, such as no congestion control.
            try:
                values[name] = parameters[name].clean(raw)
            except units.UnitError as error:
                wrong[f"parameters.{name}"] = error.message
    for name in group["missing"]:
        parameter = parameters[name]
        if parameter.required and parameter.default is None and name not in values:
            wrong.setdefault(
                f"parameters.{name}", Message(_("Not every output tells this: say what it was measured with."))
            )
    return values
