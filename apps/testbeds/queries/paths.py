"""Paths over a team's links."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from apps.accounts.models import Team
from apps.bench import network
from apps.testbeds.models import Link, Node, SitePair, Switch


@dataclass(frozen=True)
class Graph:
    """A team's links, and the RTTs (s) measured end to end between its sites, by the pair of their ids."""

    links: tuple[network.PathLink, ...]
    rtts_s: dict[frozenset[int], float]

    def path(self, a: Node, b: Node) -> network.Path | None:
        """Return the path from `a` to `b`, None where no links join them. Switches forward, nodes do not."""
        sites = frozenset((a.testbed.site_id, b.testbed.site_id))
        return self.find(node_key(a), node_key(b), end_to_end_rtt_s=self.rtts_s.get(sites))

    def find(self, a: str, b: str, *, end_to_end_rtt_s: float | None = None) -> network.Path | None:
        """Return the path between two keys, such as "node:3"."""
        if a not in self._ways:
            # Pairs come by their first end: what is kept of others would be as much as there are switches for each.
            self._ways.clear()
            self._ways[a] = self.fabric.ways(a)
        return self._ways[a].to(b, end_to_end_rtt_s=end_to_end_rtt_s)

    def crossed(self, end: str, others: Iterable[str]) -> network.Crossed:
        """Return what the paths from one key to others come to, of those that links join."""
        return self.fabric.ways(end).crossed_to(others)

    @cached_property
    def fabric(self) -> network.Fabric:
        """The links by their ends, read once for all that is asked."""
        return network.Fabric(self.links, is_switch)

    @cached_property
    def _ways(self) -> dict[str, network.Ways]:
        """The ways from the end that was asked for last, searched for once for all that they lead to."""
        return {}


def node_key(node: Node) -> str:
    """Return the name of a node in graphs and reservations."""
    return f"node:{node.pk}"


def switch_key(switch: Switch) -> str:
    """Return the name of a switch in graphs."""
    return f"switch:{switch.pk}"


def is_switch(key: Hashable) -> bool:
    """Say whether a key is a switch's."""
    return str(key).startswith("switch:")


def graph(team: Team | int) -> Graph:
    """Return the network of a team (or of the team with that id)."""
    links = Link.objects.filter(team=team).order_by("name", "pk")
    pairs = SitePair.objects.filter(team=team).values_list("site_a", "site_b", "rtt_s")
    return Graph(
        links=tuple(as_network_link(link) for link in links),
        rtts_s={frozenset((a, b)): rtt_s for a, b, rtt_s in pairs},
    )


class Networks(dict[int, Graph]):
    """The networks of teams by the teams' ids, each read when it is first asked for."""

    def __missing__(self, team_id: int) -> Graph:
        """Read the network of a team."""
        self[team_id] = graph(team_id)
        return self[team_id]


def as_network_link(link: Link) -> network.PathLink:
    """Return a link in the form the arithmetic takes."""
    return network.PathLink(
        key=link.key,
        a=link.a_key,
        b=link.b_key,
        capacity_bps=link.capacity_bps,
        rtt_s=link.rtt_s,
        mtu=link.mtu,
        name=link.name,
    )


def path_between(node_a: Node, node_b: Node) -> network.Path | None:
    """Return the path between two nodes of a team, None where its links do not join them.

    Its RTT is the one measured end to end between their sites, else the sum over its links.
    """
    return graph(node_a.team_id).path(node_a, node_b) if node_a.team_id == node_b.team_id else None


def paths_between(pairs: Sequence[tuple[Node, Node]]) -> list[network.Path]:
    """Return the paths between pairs of nodes, of those that links join; each team's links are read once."""
    networks = Networks()
    paths = (networks[a.team_id].path(a, b) for a, b in pairs if a.team_id == b.team_id)
    return [path for path in paths if path]


def switches_between(first: int, others: Sequence[int]) -> dict[int, int]:
    """Return how many switches lie between a node and others of its team, {id: number}, of those that links join."""
    team_id = Node.objects.values_list("team_id", flat=True).get(pk=first)
    network_of_team = graph(team_id)
    paths = {other: network_of_team.find(f"node:{first}", f"node:{other}") for other in others if other != first}
    return {other: path.hops - 1 for other, path in paths.items() if path}


def resources_of(nodes: Sequence[Node], networks: Networks | None = None) -> list[str]:
    """Return the keys, sorted, of all that measurements between nodes disturb: the nodes and the links between.

    Who asks for many sets of nodes hands over the `networks` that are kept from one to the next.
    """
    networks = Networks() if networks is None else networks
    keys = {node_key(node) for node in nodes}
    for team_id in {node.team_id for node in nodes}:
        members = [node_key(node) for node in nodes if node.team_id == team_id]
        for number, member in enumerate(members[:-1], 1):
            keys |= set(map(str, networks[team_id].crossed(member, members[number:]).links))
    return sorted(keys)


def least_capacity_bps(resources: Iterable[str]) -> int | None:
    """Return the least capacity (bit/s) of the links among the keys of resources, None if that of one is unknown."""
    prefix = "link:"
    links = [key.removeprefix(prefix) for key in resources if key.startswith(prefix)]
    capacities = list(Link.objects.filter(pk__in=links).values_list("capacity_bps", flat=True))
    stated_bps = [capacity for capacity in capacities if capacity is not None]
    return min(stated_bps) if stated_bps and len(stated_bps) == len(links) else None
