"""The nodes that measure: every combination of who may play the roles."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from apps.bench import sweep
from apps.bench.text import Message, _
from apps.bench.toolkit import Tool, ToolRole
from apps.campaigns.models import ExperimentRole
from apps.testbeds.models import Node
from apps.testbeds.patterns import told_ends

Errors = dict[str, Message]
# Nodes of one trial, and entries of who plays: each pair of a trial's nodes has a path, which is looked at while who
# asks waits. So many nodes have more than a hundred thousand, some seconds of a processor.
MOST_NODES = 500


@dataclass(frozen=True)
class Cast:
    """The nodes of one lane: {role: nodes}."""

    roles: Mapping[str, tuple[Node, ...]]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return every node that takes part."""
        return tuple(node for members in self.roles.values() for node in members)

    @property
    def counts(self) -> dict[str, int]:
        """Return how many nodes play each role."""
        return {role: len(members) for role, members in self.roles.items()}

    @property
    def title(self) -> str:
        """Return "client → server" with the names of the nodes."""
        names = ["+".join(node.name for node in members) for members in self.roles.values()]
        return told_ends(list(self.roles), names)

    def as_ids(self) -> dict[str, list[int]]:
        """Return {role: [node ids]}, the form in which a lane keeps it."""
        return {role: [node.pk for node in members] for role, members in self.roles.items()}


def casts_of(tool: Tool, roles: Iterable[ExperimentRole], wrong: Errors) -> tuple[tuple[Cast, ...], int]:
    """Return the casts, and how many combinations were left out as one node would play two roles; fill in `wrong`."""
    members: dict[str, dict[int, Node]] = {role.name: {} for role in tool.roles}
    for part in roles:
        if part.role not in members:
            names = ", ".join(members)
            text = _("%(tool)s has no role “%(role)s”; its roles are: %(known)s.")
            wrong[f"roles.{part.role}"] = Message(text, {"tool": tool.name, "role": part.role, "known": names})
            continue
        nodes = [part.node] if part.node else part.cluster.nodes.all() if part.cluster else []
        members[part.role].update((node.pk, node) for node in nodes)
    for role in tool.roles:
        if not members[role.name]:
            text = _("Nobody plays the role “%(role)s”: choose a node, or a cluster that has nodes.")
            wrong[f"roles.{role.name}"] = Message(text, {"role": role.name})
    _limit_nodes(tool.roles, members, wrong)
    options = [_options(role, tuple(members[role.name].values())) for role in tool.roles]
    if wrong or not limit_trials(math.prod(len(choices) for choices in options), wrong):
        return (), 0
    return _combine(tool.roles, options, wrong)


def limit_trials(count: int, wrong: Errors) -> bool:
    """Say whether so many trials are allowed; fill in `wrong` if they are not."""
    if count <= sweep.MAX_TRIALS:
        return True
    text = _("This makes %(count)s trials, and the maximum is %(limit)s: use fewer values, nodes or repetitions.")
    wrong["trials"] = Message(text, {"count": count, "limit": sweep.MAX_TRIALS})
    return False


def _limit_nodes(roles: Iterable[ToolRole], members: Mapping[str, Mapping[int, Node]], wrong: Errors) -> None:
    """Fill in `wrong` if one trial had too many nodes: those of a role that takes several take part together."""
    counts = {role.name: len(members[role.name]) if role.many else 1 for role in roles}
    if sum(counts.values()) > MOST_NODES:
        largest = max(counts, key=lambda name: counts[name])
        text = _("One trial has %(count)s nodes here, and the maximum is %(limit)s: let fewer play this role.")
        wrong[f"roles.{largest}"] = Message(text, {"count": sum(counts.values()), "limit": MOST_NODES})


def _options(role: ToolRole, nodes: tuple[Node, ...]) -> list[tuple[Node, ...]]:
    """Return who may play a role in one trial: all its nodes together, or each of them in turn."""
    return [nodes] if role.many else [(node,) for node in nodes]


def _combine(
    roles: Sequence[ToolRole], options: Sequence[Sequence[tuple[Node, ...]]], wrong: Errors
) -> tuple[tuple[Cast, ...], int]:
    names = [role.name for role in roles]
    casts = [Cast(dict(zip(names, choice, strict=True))) for choice in itertools.product(*options)]
    playable = tuple(cast for cast in casts if len({node.pk for node in cast.nodes}) == len(cast.nodes))
    if not playable:
        text = _("The roles have no nodes of their own: one node can not play two roles of a trial, add another.")
        wrong[f"roles.{names[0]}"] = Message(text)
    return playable, len(casts) - len(playable)
