"""Evidence of file systems for the rules: the published KISTI and Pusan cases, and what changes them."""

import itertools

from apps.bench import tools
from apps.bench.rules import storage
from apps.bench.rules.base import (
    DISK,
    FILE_SYSTEM,
    INTERCONNECT,
    MODE,
    NETWORK,
    SAMPLE,
    Evidence,
    FileSystemFacts,
    LinkFacts,
    PathFacts,
    Point,
)
from apps.bench.toolkit import harmonic_metrics

MB, GIB = 1e6, 1024**3
WAN_LINK = LinkFacts("switch KISTI - switch PNU", 1e9, 0.0048, 9000)
CLIENTS = ("KGFS01", "KGFS02", "KGFS03", "KGFS04")
SERVERS = ("PGFS01", "PGFS02", "PDAISY00")

GPFS = FileSystemFacts("GPFS_PDAISY", "gpfs", 262144, SERVERS)
SAN = FileSystemFacts("SAN", "ext", None, SERVERS)
NFS = FileSystemFacts("NFS_PGFS01", "nfs", None, ("PGFS01",))
RAID1 = FileSystemFacts("RAID1", "ext", None, ("PGFS01",))


def wan(client, server):
    """Return the path of a client to a server over the line between Daejeon and Pusan."""
    links = LinkFacts(f"{client} - switch", 1e9, 0, 9000), WAN_LINK, LinkFacts(f"{server} - switch", 2e9, 0, 9000)
    return PathFacts(1e9, 0.0048, 9000, links, WAN_LINK.name)


class Storing:
    """Makes points with trial ids of their own, and evidence of them."""

    def __init__(self):
        self.ids = itertools.count(1)
        self.points = []

    def point(self, layer, rates, *, tool="iozone", file_system="", roles=None, statistic=SAMPLE, **parameters):
        """Add a point of {metric: rate or rates}."""
        lists = {metric: values if isinstance(values, list) else [values] for metric, values in rates.items()}
        trials = [next(self.ids) for _value in max(lists.values(), key=len)]
        metrics = {metric: dict(zip(trials, values, strict=False)) for metric, values in lists.items()}
        point = Point(
            parameters, metrics, tool, layer, roles or {}, file_system, statistic=statistic,
            harmonic=harmonic_metrics(tools.get(tool), [parameters]),
        )  # fmt: skip
        self.points.append(point)
        return self

    def io(self, file_system, *, clients=CLIENTS[:1], statistic=SAMPLE, layer=FILE_SYSTEM, tool="iozone", **rates):
        fixed = {"file_size": 4 * GIB, "record_size": 262144}
        return self.point(
            layer, rates, tool=tool, file_system=file_system, roles={"client": clients}, statistic=statistic, **fixed
        )

    def disk(self, file_system, server, **rates):
        return self.io(file_system, clients=(server,), layer=DISK, **rates)

    def tcp(self, client, server, mbit_s, **parameters):
        rates = {"goodput": [rate * 1e6 for rate in mbit_s] if isinstance(mbit_s, list) else mbit_s * 1e6}
        return self.point(
            NETWORK, rates, tool="iperf3-tcp", roles={"client": (client,), "server": (server,)}, **parameters
        )

    def mpi(self, tool, rates, nodes=("t1", "t2"), *, file_system="", **parameters):
        return self.point(
            INTERCONNECT, rates, tool=tool, roles={"node": nodes}, file_system=file_system, **parameters
        )

    def evidence(self, *file_systems, clients=CLIENTS, paths=None, **more):
        facts = {item.name: item for item in file_systems}
        if paths is None:
            servers = {server for item in file_systems if item.kind != "ext" for server in item.servers}
            paths = {(client, server): wan(client, server) for client in clients for server in servers}
        return Evidence(tuple(self.points), paths=paths, file_systems=facts, **more)


def polarised(*, network=(980, 978), disk=264 * MB, nfs=26 * MB, hexa=36 * MB, low=13 * MB, high=80 * MB):
    """Return the evidence of the polarised writes; None leaves a layer out."""
    make = Storing()
    make.io("GPFS_PDAISY", write=low, statistic=MODE)
    make.io("GPFS_PDAISY", write=high, statistic=MODE)
    if network:
        make.tcp("KGFS01", "PGFS01", network[0], direction="forward", streams=5)
        make.tcp("KGFS01", "PGFS01", network[1], direction="reverse", streams=5)
    if disk:
        make.disk("SAN", "PGFS01", write=disk, read=354 * MB)
    if nfs:
        make.io("NFS_PGFS01", write=nfs, read=71 * MB)
        make.disk("RAID1", "PGFS01", write=30 * MB, read=120 * MB)
    if hexa:
        make.io("NFS_PGFS01", clients=("HEXA01",), write=hexa, read=55 * MB)
    return make.evidence(GPFS, SAN, NFS, RAID1, clients=(*CLIENTS, "HEXA01"))


def concluded(evidence, rule):
    """Return {subject: finding} of a rule of storage."""
    return {draft.subject: draft for draft in storage.overview(evidence) if draft.rule == rule}


def the(evidence, rule):
    """Return the only finding of a rule of storage."""
    (draft,) = concluded(evidence, rule).values()
    return draft


def sweep(factor, rates, *, metric="write", file_system="GPFS_PDAISY", clients=CLIENTS, **fixed):
    """Return a maker with a sweep of {value: rates in MB/s}."""
    make = Storing()
    for value, values in rates.items():
        parameters = {"file_size": 4 * GIB, "record_size": 262144, **fixed, factor: value}
        metrics = {metric: [rate * MB for rate in values]}
        make.point(
            "file-system", metrics, tool="iozone", file_system=file_system, roles={"client": clients}, **parameters
        )
    return make


def own_point(evidence):
    """Return the only point of a file system."""
    [point] = [point for point in evidence.points if point.layer == FILE_SYSTEM]
    return point


def others_of(evidence):
    return [point for point in evidence.points if point.layer != FILE_SYSTEM]
