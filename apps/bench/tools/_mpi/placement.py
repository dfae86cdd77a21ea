"""Which rank runs on which core of which node, by the placement that is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench.text import Message, _
from apps.bench.toolkit import NodeRef, Parameter, ParameterError
from apps.bench.tools._mpi.topology import Core, Topology, topology_of

FREE, SAME_SOCKET, OTHER_SOCKET, OTHER_NODE = "free", "same-socket", "other-socket", "other-node"
BALANCED, UNBALANCED = "BAL", "UNBAL"
DISTRIBUTED, ACCUMULATED = "DIST", "ACC"

PLACEMENT = Parameter(
    "placement",
    "choice",
    _("Placement"),
    help=_("Where partners run; collectives: all ranks in one socket, over the sockets, or over the nodes in turn."),
    default=FREE,
    choices=(
        (FREE, _("the launcher's own")),
        (SAME_SOCKET, _("same socket")),
        (OTHER_SOCKET, _("other socket")),
        (OTHER_NODE, _("other node")),
    ),
)
DISTANCE = Parameter(
    "distance",
    "integer",
    _("Distance"),
    help=_(
        "Of partners in other sockets: steps of NUMA distance, 1 is the nearest. Of those on other nodes: switches on"
        " the path between them. 0 takes what comes first."
    ),
    default=0,
    unit="count",
    minimum=0,
    maximum=64,
)
NODE_PLACEMENT = Parameter(
    "node_placement",
    "choice",
    _("Node placement"),
    help=_("BAL deals the ranks out to the nodes in turn, UNBAL fills one node before it takes the next."),
    default=BALANCED,
    choices=((BALANCED, _("balanced (BAL)")), (UNBALANCED, _("unbalanced (UNBAL)"))),
)
CORE_PLACEMENT = Parameter(
    "core_placement",
    "choice",
    _("Core placement"),
    help=_("DIST deals the ranks of a node out to its sockets in turn, ACC fills one socket before the next."),
    default=FREE,
    choices=(
        (FREE, _("the launcher's own")),
        (DISTRIBUTED, _("distributed (DIST)")),
        (ACCUMULATED, _("packed (ACC)")),
    ),
)


@dataclass(frozen=True)
class RankSlot:
    """The place of one rank: the node's index, and its core (None: any)."""

    node: int
    core: Core | None = None


def place_pairs(placement: str, distance: int, pairs: int, nodes: Sequence[NodeRef]) -> tuple[RankSlot, ...]:
    """Return the places of 2 x `pairs` ranks, first all senders, then their receivers in the same order.

    ParameterError says why the nodes cannot be used so.
    """
    if placement == OTHER_NODE:
        return _place_across(distance, pairs, nodes)
    if placement == FREE:
        # One rank a node where there are two, else all on the one: what the launcher does within a node is its own.
        other = 1 if len(nodes) > 1 else 0
        return (*[RankSlot(0)] * pairs, *[RankSlot(other)] * pairs)
    topology = _topology_known(nodes[0], "placement")
    partners = (_same_socket if placement == SAME_SOCKET else _other_socket)(topology, distance, pairs)
    if len(partners) < pairs:
        text = _("%(node)s has cores for %(found)s of %(pairs)s pairs placed so.")
        values = {"node": nodes[0].name, "found": len(partners), "pairs": pairs}
        raise ParameterError({"placement": Message(text, values)})
    return (*[RankSlot(0, one) for one, _other in partners], *[RankSlot(0, other) for _one, other in partners])


def place_group(placement: str, ranks: int, nodes: Sequence[NodeRef]) -> tuple[RankSlot, ...]:
    """Return the places of the ranks of a collective: in one socket, over the sockets, or over the nodes in turn."""
    if placement == OTHER_NODE:
        _refuse_one_node(nodes)
        return place_ranks(ranks, BALANCED, ACCUMULATED if topology_of(nodes[0]) else FREE, nodes)
    if placement == SAME_SOCKET:
        cores = _topology_known(nodes[0], "placement").of_socket(0)
        if ranks > len(cores):
            text = _("A socket of %(node)s has %(cores)s cores, which is fewer than %(ranks)s ranks.")
            values = {"node": nodes[0].name, "cores": len(cores), "ranks": ranks}
            raise ParameterError({"placement": Message(text, values)})
        return tuple(RankSlot(0, core) for core in cores[:ranks])
    if placement == OTHER_SOCKET:
        _refuse_one_socket(_topology_known(nodes[0], "placement"), nodes[0])
        return place_ranks(ranks, UNBALANCED, DISTRIBUTED, nodes[:1])
    return place_ranks(ranks, BALANCED, FREE, nodes)


def place_ranks(
    ranks: int, node_placement: str, core_placement: str, nodes: Sequence[NodeRef]
) -> tuple[RankSlot, ...]:
    """Return the place of each rank; ParameterError if a node has fewer cores than would be bound on it."""
    counts = _node_indices(ranks, node_placement, nodes)
    if core_placement == FREE:
        return tuple(RankSlot(index) for index in counts)
    orders = {index: _ordered(nodes[index], core_placement) for index in sorted(set(counts))}
    counts_used = dict.fromkeys(orders, 0)
    slots = []
    for index in counts:
        if counts_used[index] == len(orders[index]):
            text = _("%(node)s has %(cores)s cores: fewer than the ranks that are to be bound there.")
            values = {"node": nodes[index].name, "cores": len(orders[index])}
            raise ParameterError({"ranks": Message(text, values)})
        slots.append(RankSlot(index, orders[index][counts_used[index]]))
        counts_used[index] += 1
    return tuple(slots)


def _node_indices(ranks: int, node_placement: str, nodes: Sequence[NodeRef]) -> list[int]:
    if node_placement == BALANCED:
        return [rank % len(nodes) for rank in range(ranks)]
    # The cores that a node has; one whose agent told of none takes an equal share.
    rooms = [cores_of(node) or -(-ranks // len(nodes)) for node in nodes]
    by_core = [index for index, room in enumerate(rooms) for _rank in range(room)]
    # What is over shares the cores of the last.
    return (by_core + [len(nodes) - 1] * ranks)[:ranks]


def cores_of(node: NodeRef) -> int:
    """Return how many cores a node has, by its agent's facts; 0 if they do not tell."""
    topology = topology_of(node)
    if topology:
        return len(topology.cores)
    cpu: Any = node.facts.get("cpu")
    cores = cpu.get("cores") if isinstance(cpu, Mapping) else None
    return cores if isinstance(cores, int) and 0 < cores < 10**6 else 0


def _ordered(node: NodeRef, core_placement: str) -> list[Core]:
    topology = _topology_known(node, "core_placement")
    key = (lambda core: (core.socket, core.index)) if core_placement == ACCUMULATED else _by_turns
    return sorted(topology.cores, key=key)


def _by_turns(core: Core) -> tuple[int, int]:
    return core.index, core.socket


def _same_socket(topology: Topology, _distance: int, pairs: int) -> list[tuple[Core, Core]]:
    partners: list[tuple[Core, Core]] = []
    for socket in range(topology.sockets):
        cores = topology.of_socket(socket)
        partners += zip(cores[::2], cores[1::2], strict=False)
    return partners[:pairs]


def _other_socket(topology: Topology, distance: int, pairs: int) -> list[tuple[Core, Core]]:
    """Return partners in two sockets at the distance asked for, those of the first such two sockets first."""
    free = list(topology.cores)
    partners: list[tuple[Core, Core]] = []
    while free and len(partners) < pairs:
        one = free.pop(0)
        for other in free:
            hops = topology.hops(one, other)
            if hops and distance in (0, hops):
                free.remove(other)
                partners.append((one, other))
                break
    return partners


def _place_across(distance: int, pairs: int, nodes: Sequence[NodeRef]) -> tuple[RankSlot, ...]:
    _refuse_one_node(nodes)
    other = _partner_of(nodes, distance)
    cores = [topology.cores if (topology := topology_of(nodes[index])) else () for index in (0, other)]
    places = []
    for index, own_cores in zip((0, other), cores, strict=True):
        # More pairs than cores share them, as they do without binding.
        places += [RankSlot(index, own_cores[pair] if pairs <= len(own_cores) else None) for pair in range(pairs)]
    return tuple(places)


def _partner_of(nodes: Sequence[NodeRef], distance: int) -> int:
    """Return the index of the first node so many switches away from the first one (0: the next node)."""
    if not distance:
        return 1
    hops_by_node = nodes[0].facts.get("switches") if isinstance(nodes[0].facts, Mapping) else None
    switches = hops_by_node if isinstance(hops_by_node, Mapping) else {}
    for index, node in enumerate(nodes[1:], 1):
        if switches.get(node.name) == distance:
            return index
    text = _("No other node of the role is %(distance)s switches away from %(node)s, as far as the inventory knows.")
    raise ParameterError({"distance": Message(text, {"distance": distance, "node": nodes[0].name})})


def _topology_known(node: NodeRef, field: str) -> Topology:
    topology = topology_of(node)
    if topology is None:
        text = _("The agent of %(node)s has told nothing of sockets and cores; leave the placement to the launcher.")
        raise ParameterError({field: Message(text, {"node": node.name})})
    return topology


def _refuse_one_node(nodes: Sequence[NodeRef]) -> None:
    if len(nodes) < 2:
        raise ParameterError({"placement": Message(_("Partners on other nodes need two nodes or more."))})


def _refuse_one_socket(topology: Topology, node: NodeRef) -> None:
    if topology.sockets < 2:
        text = _("%(node)s has one socket only.")
        raise ParameterError({"placement": Message(text, {"node": node.name})})
