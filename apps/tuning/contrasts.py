"""The smallest experiment that proves a finding: the present setting and the recommended one, measured in turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench.settings import normalise
from apps.bench.sweep import likeness, setting_names, verification
from apps.bench.text import Message, _
from apps.bench.toolkit import Metric, Parameter, ParameterError, Params, Tool, Value
from apps.campaigns import errors, grants
from apps.campaigns.estimation import CONTEXT_S, GAP_S
from apps.testbeds import queries as testbeds
from apps.testbeds.models import FileSystem, Node
from apps.tuning import drafts
from apps.tuning.models import Finding


@dataclass(frozen=True)
class SettingDifference:
    """A parameter that the two settings differ in, with its values as people read them; words are msgids."""

    name: str
    label: str
    now: str
    then: str


@dataclass(frozen=True)
class SettingsContrast:
    """An A/B experiment: every parameter at both settings, typed; {role: nodes}; who measures what on which files.

    `assumed` (label, value) is what nobody told of the runs that it rests on: both sides have the tool's own.
    """

    tool: Tool
    metric: Metric
    nodes: Mapping[str, tuple[Node, ...]]
    file_system: FileSystem | None
    now: Params
    then: Params
    assumed: tuple[tuple[str, str], ...] = ()

    @property
    def differences(self) -> list[SettingDifference]:
        """Return what differs, in the tool's order, kernel settings last."""
        parameters = drafts.known_of(self.tool, self.now)
        return [
            SettingDifference(
                name,
                parameters[name].label,
                _shown(parameters[name], self.now[name]),
                _shown(parameters[name], self.then[name]),
            )
            for name in parameters
            if name in self.now and self.now[name] != self.then[name]
        ]

    def as_experiment(self) -> dict[str, Any]:
        """Return the fields of the experiment: what differs as zipped factors, the rest fixed if not as usual."""
        parameters = drafts.known_of(self.tool, self.now)
        names = [item.name for item in self.differences]
        return {
            "tool": self.tool.slug,
            "file_system": self.file_system,
            "fixed": {
                name: text
                for name, value in self.now.items()
                if name not in names
                and value != parameters[name].default
                and (text := drafts.text_of(parameters[name], value))
            },
            "factors": [
                {"name": name, "expression": drafts.list_of(parameters[name], (self.now[name], self.then[name]))}
                for name in names
            ],
            "zips": [names] if len(names) > 1 else [],
        }

    @property
    def block_s(self) -> float:
        """Return how long (s) it takes to measure both settings once."""
        own = [self.tool.clean(setting_names.own_parameters(side)) for side in (self.now, self.then)]
        return sum(self.tool.estimate(params).duration_s + GAP_S + CONTEXT_S for params in own)

    @property
    def least_s(self) -> float:
        """Return how long (s) it takes if the first look decides."""
        return verification.LOOKS[0] * self.block_s

    @property
    def most_s(self) -> float:
        """Return how long (s) it takes if nothing is ever decided."""
        return verification.LOOKS[-1] * self.block_s

    @property
    def settings(self) -> dict[str, set[str]]:
        """Return {key: names of the nodes} of the kernel settings that it changes, for the time of each run."""
        nodes_by_key: dict[str, set[str]] = {}
        for side in (self.now, self.then):
            for role, values in setting_names.settings_of(side).items():
                for key in values:
                    nodes_by_key.setdefault(key, set()).update(node.name for node in self.nodes.get(role, ()))
        return nodes_by_key


def _shown(parameter: Parameter, value: Value) -> str:
    """Return a value as a person would write it, and one that leaves a parameter to the system by its name."""
    return parameter.zero if parameter.zero and not value else drafts.text_of(parameter, value)


def contrast_of(finding: Finding) -> SettingsContrast:
    """Return how a finding is proved; errors.Refused says why it can not be."""
    proof = finding.details.get("proof")
    if finding.campaign.is_published:
        raise drafts.refuse(_("These are published figures: their nodes can not be measured again from here."))
    if not proof:
        raise drafts.refuse(_("The rule does not say what would prove this finding: decide on it yourself."))
    tool = drafts.tool_of(proof["tool"], finding.team)
    metric = next((item for item in tool.metrics if item.name == proof["metric"]), None)
    if metric is None:
        raise drafts.refuse(_("%(tool)s gives no “%(metric)s”."), tool=tool.name, metric=proof["metric"])
    now, then = drafts.typed(tool, proof["now"]), drafts.typed(tool, proof["then"])
    earlier = _measured(finding, tool, now)
    base = drafts.typed(tool, {name: value for name, value in earlier.parameters.items() if value is not None})
    sides = _complete(tool, base | now), _complete(tool, base | then)
    blank = dict.fromkeys((*sides[0], *sides[1]), "")
    contrast = SettingsContrast(
        tool,
        metric,
        _nodes(finding, tool, earlier.roles),
        drafts.file_system_of(proof.get("file_system", ""), finding.team) or earlier.file_system,
        # A setting that only one side names is left alone on the other.
        blank | sides[0],
        blank | sides[1],
        tuple(
            (parameter.label, _shown(parameter, sides[0][parameter.name]))
            for parameter in likeness.unknown_of(tool, earlier.parameters)
            if parameter.name not in {**now, **then}
        ),
    )
    if not contrast.differences:
        raise drafts.refuse(_("Nothing would change: the present setting is the recommended one."))
    return contrast


def missing_grants(contrast: SettingsContrast) -> list[tuple[Node, Message]]:
    """Return, for each kernel setting that the team may not set on a node, that node and what to do."""
    roles = {role: [node.pk for node in nodes] for role, nodes in contrast.nodes.items()}
    wishes = [
        testbeds.Wish(wish.node, wish.key, normalise(wish.value))
        for side in (contrast.now, contrast.then)
        for wish in grants.wishes_of(setting_names.settings_of(side), roles)
    ]
    nodes = {node.pk: node for members in contrast.nodes.values() for node in members}
    team = next(iter(nodes.values())).team_id
    return [
        (nodes[wish.node], grants.refusal_of(nodes[wish.node].name, wish))
        for wish in testbeds.not_allowed(team, wishes)
    ]


@dataclass(frozen=True)
class _Earlier:
    """What was measured before: a trial's parameters, {role: node ids}, and the file system."""

    parameters: Mapping[str, Any]
    roles: Mapping[str, list[int]]
    file_system: FileSystem | None


def _measured(finding: Finding, tool: Tool, now: Params) -> _Earlier:
    """Return the tool's trial of the evidence that is nearest to the present setting, the latest of equals.

    Without any it is the ends that the finding speaks of, and no parameters.
    """
    trials = finding.trials.filter(experiment__tool=tool.slug).order_by("-pk")
    best, maximum = None, -1
    for pk, parameters in trials.values_list("pk", "parameters"):
        alike = sum(parameters.get(name) == value for name, value in now.items())
        if alike > maximum:
            best, maximum = pk, alike
    if best is None:
        return _Earlier({}, {role: [node] for role, node in finding.ends}, None)
    trial = trials.select_related("lane", "experiment__file_system").get(pk=best)
    return _Earlier(trial.parameters, trial.lane.roles, trial.experiment.file_system)


def _complete(tool: Tool, params: Params) -> dict[str, Any]:
    """Return all of the tool's parameters as it takes them, and the settings."""
    try:
        own = tool.clean(setting_names.own_parameters(params))
    except ParameterError as error:
        raise errors.Refused(error.errors) from None
    settings = {name: normalise(str(value or "")) for name, value in params.items() if setting_names.is_setting(name)}
    return {**own, **settings}


def _nodes(finding: Finding, tool: Tool, roles: Mapping[str, list[int]]) -> dict[str, tuple[Node, ...]]:
    node_ids = [node for role in tool.roles for node in roles.get(role.name, ())]
    nodes = {node.pk: node for node in Node.objects.filter(team=finding.team_id, pk__in=node_ids)}
    players = {role.name: tuple(nodes[pk] for pk in roles.get(role.name, ()) if pk in nodes) for role in tool.roles}
    absent = [role.name for role in tool.roles if not players[role.name]]
    if absent or len(nodes) < len(set(node_ids)):
        text = _("It is not known any more which nodes measured this, or they left the inventory.")
        raise drafts.refuse(text)
    return players
