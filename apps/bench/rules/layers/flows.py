"""How many connections a file system opens, and what TCP had over as many."""

from collections.abc import Sequence
from typing import Any

from apps.bench.rules import pace
from apps.bench.rules.layers.questions import Level, Question

# Kinds whose data lie on all of their servers; and those of which a client has one connection to a server unless this
# option says otherwise.
STRIPED = frozenset({"gpfs"})
CONNECTIONS = {"nfs": "nconnect", "gpfs": "maxTcpConnsPerNodeConn"}


def flows_of(question: Question) -> int | None:
    """Return over how many connections one client of a file system moves its data; None where that is not known."""
    option = CONNECTIONS.get(question.facts.kind)
    if option is None or len(question.facts.servers) != 1:
        return None
    return number_of(question.facts.options.get(option)) or 1


def least_flows_of(question: Question) -> int | None:
    """Return over how many connections one client moves its data at least; None where that is not known.

    Of several servers an NFS client may have mounted one only; a parallel file system stripes over all of them.
    """
    option = CONNECTIONS.get(question.facts.kind)
    if option is None:
        return None
    servers = len(question.facts.servers) if question.facts.kind in STRIPED else 1
    return (number_of(question.facts.options.get(option)) or 1) * max(servers, 1)


def streams_of(level: Level) -> int:
    """Return over how many connections a goodput was measured."""
    streams = level.point.parameters.get("streams")
    return streams if isinstance(streams, int) and streams > 0 else 1


def ends_of(level: Level) -> str:
    """Return the two nodes between which TCP was measured."""
    return " - ".join(name for role in ("client", "server") for name in level.point.roles.get(role, ())[:1])


def best_over(levels: Sequence[Level], flows: int | None) -> Level | None:
    """Return the best of no more connections than these, with the kernel's window and ends that held nothing."""
    own = [
        level
        for level in levels
        if flows
        and level.point.parameters.get("streams")
        and streams_of(level) <= flows
        and not level.point.parameters.get("window")
        and not pace.flags_of(level.point)
    ]
    return max(own, key=lambda level: level.value, default=None)


def number_of(value: Any) -> int | None:
    """Return an option's value as a whole number above zero, None of anything else."""
    if isinstance(value, bool):
        return None
    try:
        number = int(value)
    except (TypeError, ValueError):
        return None
    return number if number > 0 else None
