"""What the network between so many nodes and a file system carries: what all share is not multiplied by them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from apps.bench.rules.base import Evidence, FileSystemFacts, LinkFacts, PathFacts
from apps.bench.rules.layers.links import stated_rate


class NetworkCeiling(NamedTuple):
    """What the network carries (B/s), and what it surely carries no more than.

    They differ where some nodes are only supposed to be linked as others are.
    """

    value: float
    bound: float


def ceiling_of_nodes(
    evidence: Evidence, ends: Sequence[str], facts: FileSystemFacts, nodes: int
) -> NetworkCeiling | None:
    """Return what the links, as they are described, carry for so many nodes; None where that is not known.

    Nodes beyond the `ends` are taken to have links of their own, each as wide as those have, and to share all that
    lies behind: the WAN, and the servers' own links. Where nothing tells what lies behind, nothing is known of them.
    """
    own = stated_rate(evidence, ends[:nodes], facts)
    if own is None or not ends or nodes <= len(ends):
        return None if own is None or not ends else NetworkCeiling(own, own)
    behind = _behind(evidence, ends, facts)
    shared = stated_rate(behind, ends, facts) if behind else None
    return NetworkCeiling(min(own * nodes / len(ends), shared), shared) if shared else None


def _behind(evidence: Evidence, ends: Sequence[str], facts: FileSystemFacts) -> Evidence | None:
    """Return the evidence with the ends' paths, each without the link that it has for itself; None if that is all."""
    paths: dict[tuple[str, str], tuple[LinkFacts, ...]] = {}
    for client in ends:
        for server in facts.servers:
            path, back = evidence.paths.get((client, server)), evidence.paths.get((server, client))
            if path or back:
                paths[client, server] = path.links if path else tuple(reversed(back.links if back else ()))
    uses = Counter(name for _end, name in {(ends[0], link.name) for ends, links in paths.items() for link in links})
    cut = {}
    for (client, server), links in paths.items():
        rest = links[1:] if links and uses[links[0].name] < 2 else links
        if not rest:
            return None
        cut[client, server] = _path_of(evidence, client, server, rest)
    return replace(evidence, paths=cut) if cut else None


def _path_of(evidence: Evidence, client: str, server: str, links: tuple[LinkFacts, ...]) -> PathFacts:
    """Return a path of some of its links; what it is said to carry stays where that is less than all of them do."""
    path = evidence.path_between(client, server)
    whole = min((link.capacity_bps for link in path.links if link.capacity_bps), default=None)
    is_less = bool(path.capacity_bps and whole and path.capacity_bps < whole)
    return replace(path, links=links, capacity_bps=path.capacity_bps if is_less else None)
