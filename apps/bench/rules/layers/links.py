"""What the links between clients and servers carry, as they are described."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from apps.bench import network
from apps.bench.rules.base import Evidence, FileSystemFacts, PathFacts
from apps.bench.rules.readings import read_once

# Without an MTU the larger frame's share is no safe guess: RFC 894's MTU is.
USUAL_MTU = 1500
# Kinds of file systems of which a client may have all its files from one of several servers.
OF_ONE_SERVER = ("nfs",)
# Ceilings nearer than this are one.
SAME = 0.01
# Every IPv4 link carries datagrams of this size (RFC 791): less is a slip of the pen.
LEAST_MTU = 68


def stated_rate(evidence: Evidence, clients: Sequence[str], facts: FileSystemFacts) -> float | None:
    """Return what the links between all clients together and a file system's servers carry of TCP's data (B/s).

    None if a link is unknown. Files are striped over all servers, each of which every client reaches by a path of its
    own; where one server may serve a client alone (`OF_ONE_SERVER`) and that makes a difference nothing is known.
    Links that several paths share carry all of them.
    """
    return _stated_rate(evidence, tuple(clients), tuple(facts.servers), facts.kind)


@read_once
def _stated_rate(evidence: Evidence, clients: Sequence[str], servers: Sequence[str], kind: str) -> float | None:
    client_paths = [_paths(evidence, client, servers) for client in clients]
    striped = ceiling_of(evidence, client_paths)
    if striped is None or kind not in OF_ONE_SERVER or len(servers) < 2:
        return striped
    widest = [[max(paths, key=lambda path: path.capacity_bps or 0.0)] for paths in client_paths if paths]
    single = ceiling_of(evidence, widest)
    return striped if single and abs(single / striped - 1) < SAME else None


def shared_rate(evidence: Evidence, clients: Sequence[str], facts: FileSystemFacts) -> float | None:
    """Return what lies behind the clients' own links carries of TCP's data (B/s), however many of them there were.

    None if a link is unknown, or if no two clients have one in common.
    """
    return _shared_rate(evidence, tuple(clients), tuple(facts.servers), facts.kind)


@read_once
def _shared_rate(evidence: Evidence, clients: Sequence[str], servers: Sequence[str], kind: str) -> float | None:
    if kind in OF_ONE_SERVER and len(servers) > 1:
        return None
    client_paths = [_paths(evidence, client, servers) for client in clients]
    uses = Counter(name for own in client_paths for name in {link.name for path in own for link in path.links})
    common = {name for name, count in uses.items() if count > 1}
    if not all(client_paths) or not all(
        any(link.name in common for link in path.links) for own in client_paths for path in own
    ):
        return None
    return ceiling_of(evidence, [[_only(path, common) for path in own] for own in client_paths])


def _only(path: PathFacts, names: Collection[str]) -> PathFacts:
    """Return a path of some of its links; what it is said to carry stays where that is less than all of them do."""
    min_capacity = min((link.capacity_bps for link in path.links if link.capacity_bps), default=None)
    is_less = bool(path.capacity_bps and min_capacity and path.capacity_bps < min_capacity)
    links = tuple(link for link in path.links if link.name in names)
    return replace(path, links=links, capacity_bps=path.capacity_bps if is_less else None)


def ceiling_of(evidence: Evidence, client_paths: Sequence[Sequence[PathFacts]]) -> float | None:
    """Return what the links on all paths together carry of TCP's data (B/s); each client has at least one path."""
    paths = [path for own in client_paths for path in own]
    if not paths and evidence.path.capacity_bps and not evidence.paths:
        # Of a publication's one path nobody told whose it is.
        paths = [evidence.path]
    elif not all(client_paths):
        return None
    # A publication that prints one capacity for all means what its inventory has links of.
    paths = [path for path in paths if path.links] or paths
    min_mtu = min((path.mtu for path in paths if path.mtu), default=USUAL_MTU)
    share = network.tcp_efficiency(max(min_mtu, LEAST_MTU))
    ceiling = network.clients_ceiling_bps([_as_path(path) for path in paths]).total_bps
    return ceiling * share / 8 if ceiling else None


def _paths(evidence: Evidence, client: str, servers: Sequence[str]) -> list[PathFacts]:
    """Return the paths from a client to the servers, [] unless all of them are known."""
    paths = evidence.paths
    candidates = [
        paths.get((client, server)) or paths.get((server, client)) for server in servers if server != client
    ]
    return [path for path in candidates if path] if all(candidates) else []


def _as_path(path: PathFacts) -> network.Path:
    """Return a path in the form of the arithmetic of links; one without links is a link of its own capacity.

    A path that is said to carry less than its links has that as a link that all such paths share.
    """
    names, rates = [link.name for link in path.links], [link.capacity_bps for link in path.links]
    capacities = [rate for rate in rates if rate is not None]
    if not capacities or (path.capacity_bps and path.capacity_bps < min(capacities)):
        names, rates = [*names, path.bottleneck or f"{path.capacity_bps}"], [*rates, path.capacity_bps]
    links = tuple(network.PathLink(name, name, name, rate) for name, rate in zip(names, rates, strict=True))
    return network.Path(links, (*names, ""))
