"""The paths over a team's links, as rules read them."""

import itertools
from collections.abc import Iterable

from apps.bench import network
from apps.bench.rules.base import LinkFacts, PathFacts
from apps.campaigns.models import Campaign
from apps.results.evidence.lanes import Ends, MeasuredLane
from apps.testbeds import queries as testbeds
from apps.testbeds.models import Node
from apps.tuning.evidence import printed

# Of large clusters that mount one file system not every pair of nodes is looked at.
MOST_PAIRS = 512


class TeamNetwork:
    """The network of a team, read once; `campaign` is that whose publication may know its paths better."""

    def __init__(self, team: int, campaign: Campaign | None = None) -> None:
        self._team, self._graph, self._campaign = team, testbeds.graph(team), campaign
        self._nodes: dict[int, Node] = {}

    def path_of(self, ends: Ends) -> PathFacts:
        """Return the path between two ends; nothing is known of the path of one end, or of three."""
        return self._find(*(node for _role, node in ends)) if len(ends) == 2 else PathFacts()

    def paths_of(self, lanes: Iterable[MeasuredLane]) -> dict[tuple[str, str], PathFacts]:
        """Return {(name, name): path} between the nodes of lanes, and from those to their file systems' servers."""
        lanes = list(lanes)
        names = {node: name for item in lanes for node, name in (*item.names.items(), *item.serving.items())}
        self.load(names)
        pairs = dict.fromkeys(pair for item in lanes for pair in _pairs(item))
        paths = {pair: self._find(*pair) for pair in itertools.islice(pairs, MOST_PAIRS)}
        return {(names[a], names[b]): path for (a, b), path in paths.items() if path != PathFacts()}

    def interconnects_of(self, lanes: Iterable[MeasuredLane]) -> dict[str, str]:
        """Return {name: what joins its testbed's nodes} of the nodes of lanes that are told of."""
        names = {node: name for item in lanes for node, name in item.names.items()}
        self.load(names)
        interconnects = {
            name: self._nodes[node].testbed.interconnect for node, name in names.items() if node in self._nodes
        }
        return {name: text for name, text in interconnects.items() if text}

    def load(self, node_ids: Iterable[int]) -> None:
        """Read nodes that paths will be asked of, all at once."""
        missing = set(node_ids) - self._nodes.keys()
        if missing:
            self._nodes |= Node.objects.select_related("testbed").in_bulk(missing)

    def _find(self, a: int, b: int) -> PathFacts:
        self.load((a, b))
        first, second = self._nodes.get(a), self._nodes.get(b)
        if first is None or second is None or {first.team_id, second.team_id} != {self._team}:
            return PathFacts()
        way = self._graph.path(first, second)
        path = facts_of(way) if way else PathFacts()
        return printed.path_of(self._campaign, path) if self._campaign and self._campaign.is_published else path


def facts_of(path: network.Path) -> PathFacts:
    """Return a path of the inventory as rules read it."""
    return PathFacts(
        capacity_bps=path.capacity_bps,
        rtt_s=path.rtt_s,
        mtu=path.mtu,
        links=tuple(LinkFacts(link.name, link.capacity_bps, link.rtt_s, link.mtu) for link in path.links),
        bottleneck=path.bottleneck.name if path.bottleneck else "",
    )


def _pairs(item: MeasuredLane) -> Iterable[tuple[int, int]]:
    """Yield the pairs of different nodes that a lane's measurement joins."""
    roles = [nodes for nodes in item.lane.roles.values() if nodes]
    if item.serving:
        yield from ((a, b) for nodes in roles for a in nodes for b in item.serving if a != b)
    elif len(roles) > 1:
        yield from ((a, b) for near, far in itertools.combinations(roles, 2) for a in near for b in far if a != b)
    else:
        yield from ((nodes[0], other) for nodes in roles for other in nodes[1:])
