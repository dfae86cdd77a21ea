"""The plan of a run: its tool's commands for the nodes of its lane."""

import dataclasses
import logging
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DatabaseError

from apps.agents.destinations import hosts_in
from apps.agents.models import Agent, Job
from apps.bench import context, settings, tools
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _
from apps.bench.toolkit import FILE_SERVER, NodeRef, ParameterError, Params, Plan, Tool, ToolFailure
from apps.campaigns import grants, guards
from apps.campaigns.models import Run, Trial
from apps.core import bounded
from apps.testbeds import queries as inventory
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox
from workers import file_servers

logger = logging.getLogger(__name__)
_UNCONFIRMED = _(
    "The address %(address)s of %(node)s is not confirmed: a manager of the team confirms it on the node's page."
)
# What a job has of its command.
_OF_JOB = ("role", "argv", "ready_pattern", "files", "collect", "environment")


def make_plan(run: Run) -> Plan:
    """Return the commands of one attempt at the run's trial; ToolFailure says why there can be none."""
    trial = run.trial
    try:
        tool = toolbox.get_runnable_tool(trial.experiment.tool, trial.campaign.team_id)
        params = tool.clean(setting_names.own_parameters(trial.parameters))
        _require_limits(tool, params, trial.lane.roles)
        players = {pk for members in trial.lane.roles.values() for pk in members}
        catalogue = known_of(players, trial.experiment.file_system_id)
        nodes = _players(catalogue, trial.lane.roles, secrets.token_hex(4))
        if tool.group == "mpi":
            nodes = {role: _with_switches(members, trial.lane.roles[role]) for role, members in nodes.items()}
        servers, beside = _file_servers(trial, tool, nodes)
        plan = settings.wrap(tool.plan(params, {**nodes, **beside}), _settings_of(run, nodes))
        plan = context.bracket(plan, nodes, tool) if trial.experiment.context else plan
        plan = dataclasses.replace(plan, addresses=_addresses_of(trial.lane.roles, nodes), servers=servers)
        _require_room(plan)
        _require_counting(plan, catalogue)
        return plan
    except toolbox.NotTakenOverError as error:
        text = toolbox.NOT_TAKEN_OVER
        raise ToolFailure("tool-missing", Message(text, {"tool": trial.experiment.tool}), False) from error
    except tools.UnknownTool as error:
        text = _("This server no longer has the tool %(tool)s.")
        raise ToolFailure("tool-missing", Message(text, {"tool": trial.experiment.tool}), False) from error
    except ParameterError as error:
        text = _("The tool refuses the parameters: %(why)s")
        remedy = _("Clone the campaign and mend them in the copy.")
        raise ToolFailure("bad-parameters", Message(text, {"why": str(error)}), False, Message(remedy)) from error
    except (ToolFailure, DatabaseError):
        raise
    except Exception as error:
        # A mistake in a tool must not keep its trial's nodes reserved, nor other trials from starting.
        logger.exception("No commands could be made for run %s", run.pk)
        text = _("No commands could be made for this trial; the server's log has the details.")
        raise ToolFailure("no-plan", Message(text), False) from error


def _require_room(plan: Plan) -> None:
    """Raise ToolFailure if the commands are longer than what is kept of a run, and read again in an archive."""
    commands = [command for stage in plan.stages for command in stage.commands]
    excess = bounded.too_long(Run, plan=plan.as_json()) or any(
        bounded.too_long(Job, **{name: value for name, value in command.as_json().items() if name in _OF_JOB})
        for command in commands
    )
    if excess:
        text = _("The commands of this trial, with their files, are longer than what is kept of a run.")
        remedy = _("Clone the campaign with fewer nodes, or with shorter parameters.")
        raise ToolFailure("plan-too-long", Message(text), False, Message(remedy))


def unconfirmed(plan: Plan, doubtful: Mapping[str, str]) -> list[Message]:
    """Return a message for each of these addresses {address: node} that the commands name."""
    commands = [command for stage in plan.stages for command in stage.commands]
    hosts = set().union(*(hosts_in(command) for command in commands)) if doubtful else ()
    return [
        Message(_UNCONFIRMED, {"address": address, "node": node})
        for address, node in doubtful.items()
        if address in hosts
    ]


def _require_counting(plan: Plan, catalogue: "Known") -> None:
    """Raise ToolFailure where nodes would call what their agents are not told of: they would only say so, later."""
    for message in unconfirmed(plan, catalogue.doubtful()):
        remedy = _("Then run the failed trials again.")
        raise ToolFailure("address-unconfirmed", message, False, Message(remedy))


def _file_servers(
    trial: Trial, tool: Tool, nodes: Mapping[str, Sequence[NodeRef]]
) -> tuple[tuple[int, ...], dict[str, list[NodeRef]]]:
    """Return the ids of the nodes that can free their caches of the files to be read, and the nodes in their role."""
    if tool.group != "storage":
        return (), {}
    clients = {pk: node for role, ids in trial.lane.roles.items() for pk, node in zip(ids, nodes[role], strict=True)}
    directories = {pk: node.directory for pk, node in clients.items()}
    pk, folder = file_servers.server_of(trial, directories, {pk: node.facts for pk, node in clients.items()})
    if not pk:
        return (), {}
    try:
        server = known_of({pk}, None).reference(pk)
    except ToolFailure:
        return (), {}
    return (pk,), {FILE_SERVER: [dataclasses.replace(server, directory=folder)]}


def _addresses_of(roles: Mapping[str, Sequence[int]], nodes: Mapping[str, Sequence[NodeRef]]) -> dict[str, str]:
    """Return {node: address} of nodes that are measured with each other; none of one that is measured alone."""
    pairs = {str(pk): node.address for role, ids in roles.items() for pk, node in zip(ids, nodes[role], strict=True)}
    return pairs if len(pairs) > 1 else {}


def _require_limits(tool: Tool, params: Params, roles: Mapping[str, Sequence[int]]) -> None:
    """Raise ToolFailure if a link's owner allows no longer what was allowed when the trial was made."""
    try:
        guards.check_trial(tool, params, roles)
    except guards.Exceeded as exceeded:
        remedy = _("Clone the campaign with less, or run what failed again once the limit is raised.")
        raise ToolFailure("limit-exceeded", exceeded.why, False, Message(remedy)) from exceeded


def _settings_of(run: Run, nodes: Mapping[str, Sequence[NodeRef]]) -> dict[str, list[dict[str, str]]]:
    """Return the kernel settings of each node of each role; ToolFailure if one was allowed and no longer is."""
    trial = run.trial
    chosen = setting_names.settings_of(trial.parameters)
    if not chosen:
        return {}
    missing = inventory.not_allowed(trial.campaign.team_id, grants.wishes_of(chosen, trial.lane.roles))
    if missing:
        names = {
            pk: node for role, ids in trial.lane.roles.items() for pk, node in zip(ids, nodes[role], strict=True)
        }
        message = grants.refusal_of(names[missing[0].node].name, missing[0])
        raise ToolFailure("setting-not-allowed", message, retryable=False)
    return {role: [values] * len(nodes[role]) for role, values in chosen.items()}


@dataclasses.dataclass(frozen=True)
class Known:
    """What is known of nodes, each by its number: where their file system is mounted, and their agents' facts."""

    nodes: Mapping[int, Node]
    directories: Mapping[int, str]
    facts: Mapping[int, Mapping[str, Any]]

    def reference(self, pk: int) -> NodeRef:
        """Return the node with its first data-plane address; ToolFailure if it has none, or is gone."""
        return _reference(self.nodes, pk, self.directories.get(pk, ""), self.facts.get(pk, {}))

    def doubtful(self) -> dict[str, str]:
        """Return {address: node's name} of their first addresses that count as none of a node of their teams."""
        rows = [(row, node) for node in self.nodes.values() for row in list(node.addresses.all())[:1]]
        names = {row.address: node.name for row, node in rows if row.confirmed_at is None}
        sound = inventory.counting(teams={node.team_id for node in self.nodes.values()}, addresses=names)
        return {address: name for address, name in names.items() if address not in sound}


def known_of(wanted: set[int], file_system_id: int | None) -> Known:
    """Return what is known of these nodes, in as many queries for many as for one."""
    facts = Agent.objects.filter(node__in=wanted, facts__isnull=False).values_list("node_id", "facts__facts")
    return Known(
        Node.objects.prefetch_related("addresses").in_bulk(wanted),
        inventory.directories(file_system_id, wanted) if file_system_id else {},
        dict(facts),
    )


def _players(catalogue: Known, roles: dict[str, list[int]], mark: str) -> dict[str, list[NodeRef]]:
    return {
        role: [dataclasses.replace(catalogue.reference(pk), mark=mark) for pk in members]
        for role, members in roles.items()
    }


def _with_switches(members: list[NodeRef], ids: Sequence[int]) -> list[NodeRef]:
    """Return the nodes of a role, the first of which knows how many switches lie between it and each other one."""
    if len(members) < 2:
        return members
    names = {pk: member.name for pk, member in zip(ids, members, strict=True)}
    switches = {names[pk]: count for pk, count in inventory.switches_between(ids[0], ids[1:]).items()}
    return [dataclasses.replace(members[0], facts={**members[0].facts, "switches": switches}), *members[1:]]


def _reference(nodes: Mapping[int, Node], pk: int, directory: str, facts: Mapping[str, Any]) -> NodeRef:
    """Return the node with its first data-plane address."""
    node = nodes.get(pk)
    if node is None:
        text = _("A node of this trial is no longer in the inventory.")
        raise ToolFailure("node-missing", Message(text), False, Message(_("Clone the campaign with other nodes.")))
    address = next(iter(node.addresses.all()), None)
    if address is None:
        text = _("%(node)s has no data-plane address.")
        remedy = _("Add one on the node's page and run the failed trials again.")
        raise ToolFailure("no-address", Message(text, {"node": node.name}), False, Message(remedy))
    return NodeRef(node.name, address.address, directory, facts)
