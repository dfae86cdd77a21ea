"""Links between nodes and switches, and the path over them."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class PathLink:
    """A full-duplex link between the ends `a` and `b`, with the same capacity in either direction.

    Capacity in bit/s, RTT (its share of the path's, idle) in seconds, MTU in bytes; None where unknown. `key` tells
    parallel links apart.
    """

    key: Hashable
    a: Hashable
    b: Hashable
    capacity_bps: float | None = None
    rtt_s: float | None = None
    mtu: int | None = None
    name: str = ""


@dataclass(frozen=True)
class Path:
    """The links from one end to the other, and the ends they pass: ``len(nodes) == len(links) + 1``.

    A path from a node to itself (loopback) has no links: no capacity, RTT or MTU is known of it.
    `end_to_end_rtt_s`, if measured, takes precedence over the sum of the links'.
    """

    links: tuple[PathLink, ...]
    nodes: tuple[Hashable, ...]
    end_to_end_rtt_s: float | None = None

    @property
    def hops(self) -> int:
        """Return the number of links."""
        return len(self.links)

    @property
    def bottleneck(self) -> PathLink | None:
        """Return the link of the lowest capacity; None if that of any link is unknown.

        Path capacity is the minimum over the links (RFC 5136, section 2.3). Of equals the first that lies between
        the ends' own links is named: it is the one that others share.
        """
        return None if self.unknown_capacities else self.narrowest_known

    @property
    def narrowest_known(self) -> PathLink | None:
        """Return the link of the lowest known capacity: the path has no more than this, perhaps less."""
        inner, outer = self.links[1:-1], (*self.links[:1], *self.links[-1:])
        links = [link for link in (*inner, *outer) if link.capacity_bps is not None]
        return min(links, key=capacity_of, default=None)

    @property
    def unknown_capacities(self) -> tuple[PathLink, ...]:
        """Return the links whose capacity is unknown."""
        return tuple(link for link in self.links if link.capacity_bps is None)

    @property
    def capacity_bps(self) -> float | None:
        """Return the capacity of the bottleneck in bit/s, None if unknown."""
        return self.bottleneck.capacity_bps if self.bottleneck else None

    @property
    def rtt_s(self) -> float | None:
        """Return the idle RTT in seconds: end to end if given, else the sum over the links, None if unknown."""
        if self.end_to_end_rtt_s is not None:
            return self.end_to_end_rtt_s
        rtts = [link.rtt_s for link in self.links if link.rtt_s is not None]
        return sum(rtts) if rtts and len(rtts) == len(self.links) else None

    @property
    def mtu(self) -> int | None:
        """Return the least MTU of the links in bytes, None if that of any link is unknown."""
        mtus = [link.mtu for link in self.links if link.mtu is not None]
        return min(mtus) if mtus and len(mtus) == len(self.links) else None


def find_path(
    links: Iterable[PathLink],
    source: Hashable,
    destination: Hashable,
    *,
    end_to_end_rtt_s: float | None = None,
    can_forward: Callable[[Hashable], bool] = lambda node: True,
) -> Path | None:
    """Return the path of the fewest links, among those the one of the highest capacity; None if unconnected.

    An unknown capacity counts as the lowest; of paths that are equal still, the one whose links come first is
    taken. `can_forward` tells which nodes pass traffic on: hosts on two networks usually do not.
    """
    neighbours: dict[Hashable, list[tuple[Hashable, PathLink]]] = defaultdict(list)
    for link in links:
        neighbours[link.a].append((link.b, link))
        neighbours[link.b].append((link.a, link))
    widest: dict[Hashable, float] = {source: float("inf")}
    came_over: dict[Hashable, tuple[Hashable, PathLink]] = {}
    layer = [source]
    # Layer by layer, so that every node is reached over the fewest links; within a layer the widest way wins.
    while layer and destination not in widest:
        widths: dict[Hashable, float] = {}
        for node in layer:
            if node != source and not can_forward(node):
                continue
            for neighbour, link in neighbours[node]:
                width = min(widest[node], capacity_of(link))
                if neighbour not in widest and width > widths.get(neighbour, -1.0):
                    widths[neighbour] = width
                    came_over[neighbour] = (node, link)
        widest |= widths
        layer = list(widths)
    if destination not in widest:
        return None
    return _walk_back(came_over, source, destination, end_to_end_rtt_s)


def capacity_of(link: PathLink) -> float:
    """Return the capacity of a link (bit/s); an unknown one counts as the lowest."""
    return link.capacity_bps if link.capacity_bps is not None else 0.0


def _walk_back(
    came_over: dict[Hashable, tuple[Hashable, PathLink]],
    source: Hashable,
    destination: Hashable,
    end_to_end_rtt_s: float | None,
) -> Path:
    nodes, links = [destination], []
    while nodes[-1] != source:
        node, link = came_over[nodes[-1]]
        nodes.append(node)
        links.append(link)
    return Path(tuple(reversed(links)), tuple(reversed(nodes)), end_to_end_rtt_s)
