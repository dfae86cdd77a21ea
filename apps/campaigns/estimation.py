"""What an experiment will cost before it runs: time, and bytes on each link."""

import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from apps.bench import network
from apps.bench.network import Path, PathLink
from apps.bench.toolkit import Params, TrialEstimate
from apps.campaigns.expansion import Cast, Expansion
from apps.testbeds import queries as inventory
from apps.testbeds.models import FileSystem, Node
from apps.testbeds.queries import paths as testbeds

# Between the end of one measurement and the start of the next on the same nodes, in seconds.
GAP_S = 0.1
# The probes before and after a run (`apps.bench.context`): four pings 0.2 s apart, twice, and their start.
CONTEXT_S = 1.6
# As many paths are kept.
_MOST_PATHS = 100_000


@dataclass
class Load:
    """What is asked of the network: seconds of exclusive use by resource, bytes by the name of the link.

    `unconnected` are pairs of names of nodes between which no path is described, with the bytes they exchange.
    """

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    link_bytes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    unconnected: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    @property
    def duration_s(self) -> float:
        """Return how long all of it takes at least (s): as long as the busiest resource is in use.

        What shares no resource runs at the same time; what does, one after the other.
        """
        return longest_use(self.seconds)


def longest_use(seconds: Mapping[str, float]) -> float:
    """Return the time (s) for which the busiest resource is in use, 0 if there is none."""
    return max(seconds.values(), default=0.0)


@dataclass(frozen=True)
class _Between:
    """What the paths between nodes come to: the least known capacity (bit/s) and RTT (s), the keys of their links.

    Without an RTT if one of them is not known: windows then bound nothing.
    """

    capacity_bps: float | None = None
    rtt_s: float | None = None
    links: frozenset[str] = frozenset()


class Estimator:
    """Estimates of measurements on the inventory's network; each path is computed once."""

    def __init__(self) -> None:
        self._networks = testbeds.Networks()
        self._paths: dict[tuple[int, int], Path | None] = {}
        self._estimates: dict[tuple[int, float | None, float | None], list[TrialEstimate]] = {}
        self._between: tuple[Cast | None, _Between] = (None, _Between())
        self._serving: dict[int, tuple[set[int], list[Node]]] = {}

    def resources_of(self, expansion: Expansion, cast: Cast) -> list[str]:
        """Return the keys of all that a run of the cast reserves: nodes, links between them, the file system.

        And what serves that: its nodes, with them their disks, and the links that lead to them.
        """
        nodes, keys = list(cast.nodes), set(self._between_nodes(cast).links)
        if expansion.file_system:
            keys.add(expansion.file_system.key)
            mounting, servers = self._serving_of(expansion.file_system)
            clients = [node for node in nodes if node.pk in mounting]
            ways = (self.path(client, server) for client in clients for server in servers if client != server)
            keys |= {str(link.key) for path in ways if path for link in path.links}
            nodes += servers
        return sorted(keys | {testbeds.node_key(node) for node in nodes})

    def durations_of(self, expansion: Expansion, cast: Cast) -> list[float]:
        """Return how long (s) a trial of each point takes the cast."""
        return [estimate.duration_s + _extra_s(expansion) for estimate in self.estimates_of(expansion, cast)]

    def add_load(self, load: Load, expansion: Expansion) -> None:
        """Add what an experiment asks of the network to `load`."""
        for cast in expansion.casts:
            estimates = self.estimates_of(expansion, cast)
            seconds = expansion.runs_per_point * sum(
                estimate.duration_s + _extra_s(expansion) for estimate in estimates
            )
            for resource in self.resources_of(expansion, cast):
                load.seconds[resource] += seconds
            for roles, amount in _total_bytes(estimates).items():
                self._send(load, cast, roles, amount * expansion.runs_per_point)

    def _send(self, load: Load, cast: Cast, roles: tuple[str, str], amount: int) -> None:
        pairs = list(itertools.product(cast.roles[roles[0]], cast.roles[roles[1]]))
        for sender, receiver in pairs:
            path = self.path(sender, receiver)
            if path is None:
                load.unconnected[sender.name, receiver.name] += amount // len(pairs)
                continue
            for link in path.links:
                load.link_bytes[link.name] += amount // len(pairs)

    def estimates_of(self, expansion: Expansion, cast: Cast) -> list[TrialEstimate]:
        """Return the estimate of each point; casts whose paths have one capacity and RTT share them."""
        between = self._between_nodes(cast)
        capacity, rtt = between.capacity_bps, between.rtt_s
        key = (id(expansion), capacity, rtt)
        if key not in self._estimates:
            self._estimates[key] = [
                expansion.tool.estimate(point, _most_bps(point, capacity, rtt)) for point in expansion.points
            ]
        return self._estimates[key]

    def _between_nodes(self, cast: Cast) -> _Between:
        """Return what the paths between the nodes of a cast come to, kept until another is asked for."""
        if self._between[0] is not cast:
            self._between = cast, _between(self._crossed(cast.nodes))
        return self._between[1]

    def _crossed(self, nodes: Sequence[Node]) -> Iterator[network.Crossed]:
        """Yield what the paths from each node to those after it come to, in the network of its team."""
        keys = [testbeds.node_key(node) for node in nodes]
        for number, node in enumerate(nodes[:-1], 1):
            yield self._networks[node.team_id].crossed(keys[number - 1], keys[number:])

    def _serving_of(self, file_system: FileSystem) -> tuple[set[int], list[Node]]:
        """Return the ids of the nodes that mount a file system, and the nodes that serve it."""
        if file_system.pk not in self._serving:
            self._serving[file_system.pk] = inventory.mounting(file_system), inventory.servers(file_system)
        return self._serving[file_system.pk]

    def path(self, a: Node, b: Node) -> Path | None:
        """Return the path between two nodes, None if none is described."""
        key = (min(a.pk, b.pk), max(a.pk, b.pk))
        if key not in self._paths:
            if len(self._paths) >= _MOST_PATHS:
                self._paths.clear()
            self._paths[key] = self._networks[a.team_id].find(testbeds.node_key(a), testbeds.node_key(b))
        return self._paths[key]


def _between(parts: Iterable[network.Crossed]) -> _Between:
    """Return what paths come to, none of which is made: hundreds of nodes have a hundred thousand."""
    links: dict[Hashable, PathLink] = {}
    rtts: set[float | None] = set()
    for crossed in parts:
        links |= crossed.links
        rtts |= crossed.rtts_s
    return _Between(
        min((link.capacity_bps for link in links.values() if link.capacity_bps), default=None),
        None if None in rtts else min(filter(None, rtts), default=None),
        frozenset(str(key) for key in links),
    )


def _most_bps(point: Params, capacity_bps: float | None, rtt_s: float | None) -> float | None:
    """Return the most (bit/s) that a point can move over a path: no more than its windows allow."""
    window, streams = point.get("window"), 1
    for name in ("streams", "concurrency"):
        count = point.get(name)
        streams *= count if isinstance(count, int) else 1
    return network.most_bps(capacity_bps, rtt_s, window if isinstance(window, int | float) else None, streams)


def _extra_s(expansion: Expansion) -> float:
    """Return what a run takes (s) beside its tool's own time."""
    return GAP_S + (CONTEXT_S if expansion.context else 0.0)


def _total_bytes(estimates: Iterable[TrialEstimate]) -> dict[tuple[str, str], int]:
    totals: dict[tuple[str, str], int] = defaultdict(int)
    for estimate in estimates:
        for roles, amount in estimate.bytes_sent.items():
            totals[roles] += amount
    return totals
