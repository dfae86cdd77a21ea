"""What lies beneath a file system: the network to its servers and their disks, each alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.bench import network
from apps.bench.rules.base import BELOW, DISK, MODE, NETWORK, Evidence, FileSystemFacts, PathFacts, Point
from apps.bench.rules.layers.questions import WRITE, Level, Question, level_of, of_layer, path_of

# Without an MTU the larger frame's share is no safe guess: RFC 894's MTU is.
USUAL_MTU = 1500
# Every IPv4 link carries datagrams of this size (RFC 791): less is a slip of the pen.
LEAST_MTU = 68


@dataclass(frozen=True)
class Beneath:
    """What a layer gives alone (B/s), with the number of values and the 95 % interval.

    `is_stated` if it is of the inventory, not measured; `is_floor` if it may give more, because it was not measured
    with as many at once.
    """

    layer: str
    subject: str
    value: float
    tool: str = ""
    n: int = 0
    trials: tuple[int, ...] = ()
    interval: tuple[float, float] | None = None
    is_stated: bool = False
    is_floor: bool = False


class Network:
    """The network between the clients of a question and the servers, the way that the data go; read once."""

    def __init__(self, evidence: Evidence, question: Question) -> None:
        self._evidence, self._question = evidence, question
        self._alone = _measured(evidence, question)
        self._known: dict[tuple[str, ...], Beneath | None] = {}

    def beneath(self, clients: tuple[str, ...]) -> Beneath | None:
        """Return what it carries between so many clients and the servers."""
        if clients not in self._known:
            self._known[clients] = self._read(clients)
        return self._known[clients]

    def _read(self, clients: tuple[str, ...]) -> Beneath | None:
        question, alone = self._question, self._alone
        together = stated_rate(self._evidence, clients or sorted(question.clients), question.facts.servers)
        if not alone:
            return Beneath(NETWORK, question.bottleneck, together, is_stated=True) if together else None
        best = max(alone.values(), key=lambda level: level.value)
        count = max(len(clients), 1)
        value, is_floor = best.value, False
        if count > 1 and together:
            usual = sum(level.value for level in alone.values()) / len(alone)
            apiece = [alone[client].value if client in alone else usual for client in clients]
            value = max(min(sum(apiece), together), best.value)
        elif count > 1:
            is_floor = True
        scale = value / best.value
        ends = " - ".join(name for role in ("client", "server") for name in best.point.roles.get(role, ())[:1])
        return Beneath(
            NETWORK,
            ends,
            value,
            best.point.tool,
            best.n,
            tuple(sorted({trial for level in alone.values() for trial in level.trials})),
            (best.interval[0] * scale, best.interval[1] * scale) if best.interval else None,
            is_floor=is_floor,
        )


def disk_beneath(evidence: Evidence, question: Question) -> Beneath | None:
    """Return what the disks of the servers give alone: measured if they were, else as stated."""
    facts = question.facts
    levels: dict[str, Level] = {}
    for point in of_layer(evidence, DISK, question.metric):
        if point.statistic not in (MODE, BELOW):
            level = level_of(point, question.metric, point.values(question.metric), point.statistic)
            if point.file_system not in levels or level.value > levels[point.file_system].value:
                levels[point.file_system] = level
    disks = _disks_of(facts, [evidence.file_systems[name] for name in levels if name in evidence.file_systems])
    if disks:
        used = [levels[disk.name] for disk in disks]
        served = sum(max(len(disk.servers), 1) for disk in disks)
        interval = used[0].interval if len(used) == 1 else None
        return Beneath(
            DISK,
            ", ".join(disk.name for disk in disks),
            sum(level.value for level in used),
            used[0].point.tool,
            min(level.n for level in used),
            tuple(sorted({trial for level in used for trial in level.trials})),
            interval,
            is_floor=sum(max(len(level.clients), 1) for level in used) < served,
        )
    if facts.disk_bytes_per_s:
        return Beneath(DISK, facts.name, facts.disk_bytes_per_s, is_stated=True)
    return None


def stated_rate(evidence: Evidence, clients: Sequence[str], servers: Sequence[str]) -> float | None:
    """Return what the links on the paths of all clients together carry of TCP's data (B/s), None if one is unknown.

    A client goes to the server to which its path is the widest; links that several paths share carry all of them.
    """
    paths = [path for client in clients if (path := _widest(evidence, client, servers))]
    if not paths or len(paths) < len(clients):
        shared = path_of(evidence, clients, servers)
        paths = [shared] if shared else []
    if not paths:
        return None
    least = min((path.mtu for path in paths if path.mtu), default=USUAL_MTU)
    share = network.tcp_efficiency(max(least, LEAST_MTU))
    ceiling = network.clients_ceiling_bps([_as_path(path) for path in paths]).total_bps
    return ceiling * share / 8 if ceiling else None


def rtt_of(evidence: Evidence, question: Question) -> float | None:
    """Return the RTT (s) between clients and servers: the least measured, else the one stated."""
    measured = [
        value
        for point in evidence.points
        if joins(point, question)
        for metric in ("rtt_min", "min_rtt")
        for value in point.values(metric)
        if value > 0
    ]
    path = path_of(evidence, question.clients, question.facts.servers)
    return min(measured, default=None) or (path.rtt_s if path else None)


def _measured(evidence: Evidence, question: Question) -> dict[str, Level]:
    """Return the best TCP goodput (B/s) of each client to or from a server; the other way where there is none."""
    ways: tuple[dict[str, Level], dict[str, Level]] = ({}, {})
    for point in evidence.points:
        if point.layer not in (NETWORK, "") or "loss" in point.metrics or not joins(point, question):
            continue
        client, is_sender = client_end(point, question)
        goes = is_sender != (point.parameters.get("direction") == "reverse")
        for metric, way in (("goodput", goes), ("goodput_reverse", not goes)):
            rates = [rate / 8 for rate in point.values(metric)]
            if not rates or min(rates) <= 0 or point.statistic in (MODE, BELOW):
                continue
            level = level_of(point, metric, rates, point.statistic)
            kept = ways[way == (question.metric == WRITE)]
            if client not in kept or level.value > kept[client].value:
                kept[client] = level
    return ways[True] or ways[False]


def joins(point: Point, question: Question) -> bool:
    """Return whether a point was measured between a client of the question and a server."""
    ends = point.roles.get("client", ()), point.roles.get("server", ())
    if not all(ends):
        return not point.roles and point.layer != DISK
    servers, clients = set(question.facts.servers), question.clients

    def is_pair(client: set[str], server: set[str]) -> bool:
        far = bool(server & servers) if servers else not server & clients
        return far and (not clients or bool(client & clients))

    one, other = set(ends[0]), set(ends[1])
    return is_pair(one, other) or is_pair(other, one)


def client_end(point: Point, question: Question) -> tuple[str, bool]:
    """Return which end of a network point is the file system's client, and whether it is the tool's client, too."""
    client, server = point.roles.get("client", ("",))[0], point.roles.get("server", ("",))[0]
    is_client = client not in question.facts.servers and (
        client in question.clients or server not in question.clients
    )
    return (client, True) if is_client else (server, False)


def _disks_of(facts: FileSystemFacts, disks: Sequence[FileSystemFacts]) -> list[FileSystemFacts]:
    """Return the local file systems that lie beneath one: the one named in its option `disk`, else by their servers.

    They must be on all of its servers: one by itself, or several that share none, all together. Of others the one
    whose servers are most alike, and none if that leaves a doubt.
    """
    named = [disk for disk in disks if disk.name == facts.options.get("disk")]
    if named:
        return named
    servers = set(facts.servers)
    near = [disk for disk in disks if servers & set(disk.servers)]
    if not servers or not servers <= {server for disk in near for server in disk.servers}:
        return []
    whole = [disk for disk in near if servers <= set(disk.servers)]
    if not whole:
        is_apart = len({server for disk in near for server in disk.servers}) == sum(len(d.servers) for d in near)
        return near if is_apart else []
    fewest = min(len(disk.servers) for disk in whole)
    best = [disk for disk in whole if len(disk.servers) == fewest]
    return best if len(best) == 1 else []


def _widest(evidence: Evidence, client: str, servers: Sequence[str]) -> PathFacts | None:
    paths: Mapping[tuple[str, str], PathFacts] = evidence.paths
    found = [path for server in servers if (path := paths.get((client, server)) or paths.get((server, client)))]
    return max(found, key=lambda path: path.capacity_bps or 0.0, default=None)


def _as_path(path: PathFacts) -> network.Path:
    """Return a path in the form of the arithmetic of links; one without links is a link of its own capacity.

    A path that is said to carry less than its links has that as a link that all such paths share.
    """
    names, rates = [link.name for link in path.links], [link.capacity_bps for link in path.links]
    known = [rate for rate in rates if rate is not None]
    if not known or (path.capacity_bps and path.capacity_bps < min(known)):
        names, rates = [*names, path.bottleneck or f"{path.capacity_bps}"], [*rates, path.capacity_bps]
    links = tuple(network.Link(name, name, name, rate) for name, rate in zip(names, rates, strict=True))
    return network.Path(links, (*names, ""))
