"""What can be said of the path between two nodes or clusters before anything is measured."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.bench import network
from apps.testbeds.models import Cluster, Link, Node
from apps.testbeds.queries.listings import links as link_rows
from apps.testbeds.queries.paths import graph

# The largest MTU that every Ethernet carries; stands in where the inventory does not know the path's (RFC 894).
ASSUMED_MTU = 1500
# The window that TCP has without window scaling (RFC 7323, section 2), in bytes.
UNSCALED_WINDOW = 65535
MOST_CLIENTS = 64
SOME_CLIENTS = 8


@dataclass(frozen=True)
class Limit:
    """What so many clients reach together: the ceiling, what of it TCP can carry (bit/s), and the full links.

    `links` are those that the clients share; none if each is held back by its own link to the network.
    """

    clients: int
    total_bps: float | None
    known_bps: float | None
    tcp_bps: float | None
    links: tuple[Link, ...]


@dataclass(frozen=True)
class PathReport:
    """The path from the first client to the first server, and what it and several clients allow.

    `copied` says that the clients beyond the first are imagined: nodes like it, each with a link like its own.
    """

    source: Node
    destination: Node
    path: network.Path
    links: tuple[Link, ...]
    bottleneck: Link | None
    unknown: tuple[Link, ...]
    bdp_bytes: int | None
    tcp_ceiling_bps: float | None
    assumed_mtu: int | None
    unscaled_bps: float | None
    limits: tuple[Limit, ...]
    copied: bool

    @property
    def capacity_bps(self) -> float | None:
        """Return the capacity in bit/s, None if that of a link is unknown."""
        return self.path.capacity_bps

    @property
    def rtt_s(self) -> float | None:
        """Return the RTT in seconds."""
        return self.path.rtt_s

    @property
    def mtu(self) -> int | None:
        """Return the MTU in bytes."""
        return self.path.mtu

    @property
    def narrowest(self) -> Link | None:
        """Return the link of the lowest capacity among those known."""
        narrowest = self.path.narrowest_known
        return next((link for link in self.links if narrowest and link.key == narrowest.key), None)


def report_path(source: Node | Cluster, destination: Node | Cluster, clients: int | None = None) -> PathReport | None:
    """Return the report on the path between two ends of one team; None where no links join them, or an end is empty.

    From a cluster the clients are its nodes, from a node they are the node and others like it; they take the nodes
    of the destination in turn. `clients` is how many at most the table counts up to.
    """
    sources, destinations = _members(source), _members(destination)
    client_count = min(clients or (len(sources) if isinstance(source, Cluster) else SOME_CLIENTS), MOST_CLIENTS)
    pairs = _pairs(sources[:client_count] if isinstance(source, Cluster) else sources * client_count, destinations)
    if not pairs or source.team_id != destination.team_id:
        return None
    team_graph = graph(source.team_id)
    by_ends: dict[tuple[int, int], network.Path | None] = {}
    paths = []
    for number, (a, b) in enumerate(pairs):
        if (a.pk, b.pk) not in by_ends:
            by_ends[a.pk, b.pk] = team_graph.path(a, b)
        path = by_ends[a.pk, b.pk]
        if path is None:
            break
        paths.append(path if isinstance(source, Cluster) or not number else _copy(path, number))
    if not paths:
        return None
    rows = {row.key: row for row in link_rows().filter(team=source.team_id)}
    return _report(pairs[0], paths, rows, copied=isinstance(source, Node))


def _members(end: Node | Cluster) -> list[Node]:
    if isinstance(end, Node):
        return [end]
    return list(end.nodes.select_related("testbed").order_by("name"))


def _pairs(sources: Sequence[Node], destinations: Sequence[Node]) -> list[tuple[Node, Node]]:
    """Return who sends to whom: the destinations in turn, a node never to itself."""
    pairs = []
    for number, source in enumerate(sources):
        others = [node for node in destinations if node != source]
        if others:
            pairs.append((source, others[number % len(others)]))
    return pairs


def _copy(path: network.Path, number: int) -> network.Path:
    """Return the path of another node like the first: its own link to the network, and the same way from there."""
    if len(path.links) < 2:
        return path
    own = replace(path.links[0], key=(path.links[0].key, number))
    return replace(path, links=(own, *path.links[1:]))


def _report(ends: tuple[Node, Node], paths: list[network.Path], rows: dict[str, Link], *, copied: bool) -> PathReport:
    path = paths[0]
    bottleneck = path.bottleneck
    return PathReport(
        source=ends[0],
        destination=ends[1],
        path=path,
        links=tuple(rows[str(link.key)] for link in path.links),
        bottleneck=rows[str(bottleneck.key)] if bottleneck else None,
        unknown=tuple(rows[str(link.key)] for link in path.unknown_capacities),
        bdp_bytes=network.bdp_bytes(path.capacity_bps, path.rtt_s),
        tcp_ceiling_bps=network.tcp_ceiling_bps(path.capacity_bps, path.mtu or ASSUMED_MTU),
        assumed_mtu=None if path.mtu else ASSUMED_MTU,
        unscaled_bps=network.window_limited_bps(UNSCALED_WINDOW, path.rtt_s),
        limits=tuple(_limit(paths[:count], rows) for count in range(1, len(paths) + 1)),
        copied=copied,
    )


def _limit(paths: list[network.Path], rows: dict[str, Link]) -> Limit:
    ceiling = network.clients_ceiling_bps(paths)
    crossing = Counter(link.key for path in paths for link in path.links)
    shared = [link for link in ceiling.limiting if crossing[link.key] > 1]
    if len(paths) == 1 and paths[0].bottleneck:
        shared = [paths[0].bottleneck]
    mtu = min((path.mtu or ASSUMED_MTU for path in paths), default=ASSUMED_MTU)
    return Limit(
        clients=len(paths),
        total_bps=ceiling.total_bps,
        known_bps=ceiling.known_bps,
        tcp_bps=network.tcp_ceiling_bps(ceiling.total_bps, mtu),
        links=tuple(rows[str(link.key)] for link in shared),
    )
