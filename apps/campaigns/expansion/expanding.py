"""From an experiment as it was written to its points and the nodes that measure them."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench import sweep, tools, units
from apps.bench.text import Message, _
from apps.bench.tools.base import ParameterError, Params, Role, Tool
from apps.campaigns import errors
from apps.campaigns.models import Experiment, ExperimentRole
from apps.testbeds.models import Node

Errors = dict[str, Message]


@dataclass(frozen=True)
class Cast:
    """The nodes of one lane: {role: nodes}."""

    roles: Mapping[str, tuple[Node, ...]]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return every node that takes part."""
        return tuple(node for members in self.roles.values() for node in members)

    def as_ids(self) -> dict[str, list[int]]:
        """Return {role: [node ids]}, the form in which a lane keeps it."""
        return {role: [node.pk for node in members] for role, members in self.roles.items()}


@dataclass(frozen=True)
class Expansion:
    """What an experiment comes to: every cast measures every point, `repetitions` times after `warmups`.

    `points` are the tool's parameters, typed and complete; `left_out` counts the combinations of nodes in which one
    node would have played two roles.
    """

    tool: Tool
    spec: sweep.SweepSpec
    casts: tuple[Cast, ...]
    left_out: int
    points: tuple[Params, ...]

    @property
    def runs_per_point(self) -> int:
        """Return how often each point is measured by each cast, warm-ups included."""
        return self.spec.repetitions + self.spec.warmups

    @property
    def trials(self) -> int:
        """Return how many trials the experiment makes."""
        return len(self.casts) * len(self.points) * self.runs_per_point


def expand_experiment(experiment: Experiment, roles: Iterable[ExperimentRole]) -> Expansion:
    """Return what an experiment comes to, saved or not; errors.Refused names each field that is wrong."""
    try:
        tool = tools.get(experiment.tool)
    except tools.UnknownTool:
        known = ", ".join(tool.slug for tool in tools.all_tools())
        text = _("There is no tool “%(tool)s” here; choose one of: %(known)s.")
        raise errors.Refused({"tool": Message(text, {"tool": experiment.tool, "known": known})}) from None
    spec = _spec_of(experiment)
    wrong: Errors = {}
    casts, left_out = _casts_of(tool, roles, wrong)
    points = _points_of(tool, spec, wrong)
    if not wrong:
        _limit_trials(len(casts) * len(points) * (spec.repetitions + spec.warmups), wrong)
    if wrong:
        raise errors.Refused(wrong)
    return Expansion(tool=tool, spec=spec, casts=casts, left_out=left_out, points=points)


def _spec_of(experiment: Experiment) -> sweep.SweepSpec:
    try:
        return sweep.make_spec(
            factors=[sweep.Factor(factor["name"], factor["expression"]) for factor in experiment.factors],
            zips=experiment.zips,
            exclusions=experiment.exclusions,
            fixed=experiment.fixed,
            repetitions=experiment.repetitions,
            warmups=experiment.warmups,
            order=experiment.order,
            seed=experiment.seed,
        )
    except sweep.SweepError as error:
        raise errors.Refused(error.errors) from None


def _points_of(tool: Tool, spec: sweep.SweepSpec, wrong: Errors) -> tuple[Params, ...]:
    known = {parameter.name: parameter for parameter in tool.parameters}
    fixed: dict[str, Any] = {}
    for name, text in spec.fixed.items():
        try:
            fixed[name] = known[name].clean(text) if name in known else text
        except units.UnitError as error:
            wrong[f"fixed.{name}"] = error.message
    try:
        swept = sweep.expand_points(spec, known)
    except sweep.SweepError as error:
        wrong.update(error.errors)
    if wrong:
        return ()
    points = []
    try:
        for values in swept:
            points.append(tool.clean({**fixed, **values}))
    except ParameterError as error:
        # One point is enough to say what is wrong; the others most often fail alike.
        for name, message in error.errors.items():
            wrong[f"factors.{name}" if name in spec.factors else f"fixed.{name}"] = message
    return tuple(points)


def _casts_of(tool: Tool, roles: Iterable[ExperimentRole], wrong: Errors) -> tuple[tuple[Cast, ...], int]:
    members: dict[str, dict[int, Node]] = {role.name: {} for role in tool.roles}
    for part in roles:
        if part.role not in members:
            known = ", ".join(members)
            text = _("%(tool)s has no role “%(role)s”; its roles are: %(known)s.")
            wrong[f"roles.{part.role}"] = Message(text, {"tool": tool.name, "role": part.role, "known": known})
            continue
        found = [part.node] if part.node else part.cluster.nodes.all() if part.cluster else []
        members[part.role].update((node.pk, node) for node in found)
    for role in tool.roles:
        if not members[role.name]:
            text = _("Nobody plays the role “%(role)s”: choose a node, or a cluster that has nodes.")
            wrong[f"roles.{role.name}"] = Message(text, {"role": role.name})
    options = [_options(role, tuple(members[role.name].values())) for role in tool.roles]
    if wrong or not _limit_trials(math.prod(len(choices) for choices in options), wrong):
        return (), 0
    return _combine(tool.roles, options, wrong)


def _options(role: Role, nodes: tuple[Node, ...]) -> list[tuple[Node, ...]]:
    """Return who may play a role in one trial: all its nodes together, or each of them in turn."""
    return [nodes] if role.many else [(node,) for node in nodes]


def _combine(
    roles: Sequence[Role], options: Sequence[Sequence[tuple[Node, ...]]], wrong: Errors
) -> tuple[tuple[Cast, ...], int]:
    names = [role.name for role in roles]
    casts = [Cast(dict(zip(names, choice, strict=True))) for choice in itertools.product(*options)]
    kept = tuple(cast for cast in casts if len({node.pk for node in cast.nodes}) == len(cast.nodes))
    if not kept:
        text = _("The roles have no nodes of their own: one node can not play two roles of a trial, add another.")
        wrong[f"roles.{names[0]}"] = Message(text)
    return kept, len(casts) - len(kept)


def _limit_trials(count: int, wrong: Errors) -> bool:
    if count <= sweep.MAX_TRIALS:
        return True
    text = _("This makes %(count)s trials, and %(limit)s is the most: use fewer values, nodes or repetitions.")
    wrong["trials"] = Message(text, {"count": count, "limit": sweep.MAX_TRIALS})
    return False
