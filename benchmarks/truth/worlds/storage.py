"""A world of clients that share a file system: one server or several with stripes, a network between, disks."""

import dataclasses
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.truth.worlds.base import Json, StatedFileSystem, StatedLink, StatedNode, World
from benchmarks.truth.worlds.noise import Noise

NETWORK, DISK, SERVER, CLIENT, WAIT = "network", "disk", "file-system", "client", "wait"
SHARED, LOCAL = "shared", "local"
WRITE, READ = "write", "read"
# What TCP has of a line, in B/s of bit/s.
PAYLOAD = 0.94 / 8
USUAL_RECORD = 2**20
GIB = 2**30
# The round trip within a site (s).
NEAR_RTT = 1e-4


@dataclass(frozen=True, kw_only=True)
class StorageWorld(World):
    """Clients, a way, servers and disks as they are; rates in B/s unless they are bit/s.

    `disk` {write, read} is what one server's disks give, `share` what the file system leaves of that; `window` (B) is
    that of each client's connection to each server, `software` the most that one client's file system moves,
    `latency` (s) what a request waits beside the round trip; `decline` what each client more costs the disks;
    `near` is a client that stands beside the servers, "" for none.
    """

    kind: str
    clients: tuple[str, ...]
    servers: tuple[str, ...]
    client_nic_bps: float
    server_nic_bps: float
    wide_bps: float
    rtt_s: float
    window: float
    software: float
    latency: float
    disk: Mapping[str, float]
    share: float
    decline: float
    near: str = ""

    def carried(self, clients: int) -> float:
        """Return what the network carries for so many clients (B/s)."""
        narrow = min(clients * self.client_nic_bps, self.wide_bps, len(self.servers) * self.server_nic_bps)
        return narrow * PAYLOAD

    def rate_near(self, metric: str) -> float:
        """Return what the client beside the servers reaches alone (B/s): no wide link, no long round trip."""
        network = min(self.client_nic_bps, len(self.servers) * self.server_nic_bps) * PAYLOAD
        connections = len(self.servers) * self.window / NEAR_RTT
        return min(network, connections, self.software, len(self.servers) * self.disk[metric] * self.share)

    def window_holds(self, near: bool) -> bool:
        """Return whether the windows of its connections are what one client is held by."""
        connections = len(self.servers) * self.window / (NEAR_RTT if near else self.rtt_s)
        return connections < min(self.software, self.client_nic_bps * PAYLOAD)

    def limit_near(self, metric: str) -> set[str]:
        """Return which parts hold the client beside the servers."""
        disks = len(self.servers) * self.disk[metric]
        terms = {
            NETWORK: min(self.client_nic_bps, len(self.servers) * self.server_nic_bps) * PAYLOAD,
            CLIENT: min(self.software, len(self.servers) * self.window / NEAR_RTT),
            DISK: disks,
            SERVER: disks * self.share,
        }
        return {name for name, rate in terms.items() if rate <= 1.12 * min(terms.values())}

    def one_client(self, record: int, threads: int, direct: bool) -> tuple[float, str]:
        """Return what one client reaches by itself (B/s), and what holds it."""
        connections = len(self.servers) * self.window / self.rtt_s
        alone = min(connections, self.client_nic_bps * PAYLOAD, self.software)
        if not direct:
            return alone, CLIENT
        wait = self.rtt_s + self.latency
        each = record / (wait + record / alone)
        return min(alone, threads * each), WAIT if threads * each < 0.9 * alone else CLIENT

    def terms(
        self, metric: str, clients: int, record: int = USUAL_RECORD, threads: int = 1, direct: bool = False
    ) -> dict[str, float]:
        """Return what each part allows (B/s) of all clients together."""
        alone, name = self.one_client(record, threads, direct)
        disks = len(self.servers) * self.disk[metric]
        thrashed = disks / (1 + self.decline * (clients * threads - 1))
        rates = {NETWORK: self.carried(clients), DISK: thrashed, SERVER: thrashed * self.share, CLIENT: math.inf}
        # A file system that leaves nearly all of its disks is not what limits: they are.
        rates[WAIT] = math.inf
        rates[name] = min(rates[name], clients * alone)
        return rates

    def rate(self, metric: str, parameters: Mapping[str, Any]) -> float:
        """Return the aggregate (B/s) of a setting as IOzone's parameters name it."""
        return min(self.terms(metric, *self._setting(parameters)).values())

    def limit(self, metric: str, parameters: Mapping[str, Any], within: float = 0.12) -> set[str]:
        """Return which parts hold the rate, those that come near the least with it."""
        terms = self.terms(metric, *self._setting(parameters))
        least = min(terms.values())
        return {name for name, rate in terms.items() if rate <= (1 + within) * least}

    def _setting(self, parameters: Mapping[str, Any]) -> tuple[int, int, int, bool]:
        return (
            int(parameters.get("clients") or len(self.clients)),
            int(parameters.get("record_size") or USUAL_RECORD),
            int(parameters.get("threads") or 1),
            bool(parameters.get("direct")),
        )


def draw(seed: int, noise: Noise, repetitions: int, source: random.Random) -> StorageWorld:
    """Return a file system with its clients and inventory; nothing is measured yet."""
    kind = source.choice(("nfs", "nfs", "lustre", "gpfs", "glusterfs", "beegfs"))
    servers = tuple(f"server{place}" for place in range(1, (1 if kind == "nfs" else source.choice((2, 3, 4, 8))) + 1))
    clients = tuple(f"client{place}" for place in range(1, source.choice((1, 2, 4, 4, 6, 8)) + 1))
    nic = source.choice((1e9, 1e9, 1e10, 1e10, 2.5e10))
    server_nic = nic * source.choice((1, 1, 4))
    wide = source.choice((1e9, 4e9, 1e10, 4e10, 1e11))
    rtt = source.choice((1e-4, 2e-4, 1e-3, 4.8e-3, 2e-2)) * source.uniform(0.8, 1.2)
    write = source.choice((30e6, 120e6, 260e6, 500e6, 1.2e9, 3e9)) * source.uniform(0.8, 1.2)
    world = StorageWorld(
        seed=seed,
        noise=noise,
        repetitions=repetitions,
        nodes=(),
        kind=kind,
        clients=clients,
        servers=servers,
        client_nic_bps=nic,
        server_nic_bps=server_nic,
        wide_bps=wide,
        rtt_s=rtt,
        window=source.choice((65535, 4e5, 4e6, 4e6, 3e7)),
        software=source.choice((2e8, 6e8, 1.5e9, 5e9)),
        latency=source.choice((5e-5, 2e-4, 1e-3)),
        disk={WRITE: write, READ: write * source.uniform(1.0, 3.0)},
        share=source.choice((0.5, 0.7, 0.95, 1.0)),
        decline=source.choice((0.0, 0.0, 0.03, 0.15)),
    )
    world, traits = _with_own_links(world), ()
    links = _links(world, source)
    disks = _describe_disks(world) if source.random() < 0.3 else ""
    systems = [
        StatedFileSystem(
            SHARED,
            kind,
            servers if source.random() < 0.85 else (),
            clients,  # The one beside the servers mounts it as well; nobody wrote that down.
            source.choice((None, 2**18, 2**20, 2**22)),
            disks,
        ),
        StatedFileSystem(LOCAL, "xfs", servers[:1], (), None, ""),
    ]
    nodes = [StatedNode(name, "Site A", _facts(source)) for name in clients]
    near = "near1" if source.random() < 0.25 else ""
    nodes += [StatedNode(name, "Site B", _facts(source)) for name in (*servers, *([near] if near else []))]
    if near and links:
        links = (*links, StatedLink(f"{near} – B", near, "B", links[-1].capacity_bps and int(nic), None))
    return dataclasses.replace(
        world,
        near=near,
        nodes=tuple(nodes),
        switches=(("A", "Site A"), ("B", "Site B")),
        links=links,
        file_systems=tuple(systems),
        traits=traits,
    )


def _with_own_links(world: StorageWorld) -> StorageWorld:
    """Return one world in four in which each client comes near what its own link carries, and the way is wide.

    What is drawn for it leaves all other worlds of these seeds as they are.
    """
    source = random.Random(f"{world.seed} own links")  # noqa: S311 - a simulation, not a secret
    if source.random() >= 0.25:
        return world
    nic = min(world.client_nic_bps, 1e10)
    return dataclasses.replace(
        world,
        client_nic_bps=nic,
        server_nic_bps=max(world.server_nic_bps, 10 * nic),
        wide_bps=max(world.wide_bps, 10 * nic),
        window=3e7 + nic / 8 * world.rtt_s,
        software=nic * PAYLOAD * source.uniform(0.3, 0.98),
        disk={name: max(rate, 2e9) for name, rate in world.disk.items()},
        decline=0.0,
    )


def _describe_disks(world: StorageWorld) -> str:
    """Return what somebody wrote of all servers' disks: what they write and read, in either order, or one rate.

    What is drawn for it leaves all other worlds of these seeds as they are.
    """
    source = random.Random(f"{world.seed} disks")  # noqa: S311 - a simulation, not a secret
    write, read = (f"{len(world.servers) * world.disk[metric] / 1e6:.0f} MB/s" for metric in (WRITE, READ))
    forms = f"{write} write, {read} read", f"{read} read, {write} write", f"{write} write", write
    return f"8 disks, {source.choice(forms)}"


def _facts(source: random.Random) -> Json | None:
    return {"memory_bytes": 64 * GIB} if source.random() < 0.5 else None


def _links(world: StorageWorld, source: random.Random) -> tuple[StatedLink, ...]:
    if source.random() < 0.15:
        return ()
    known, rtt = source.random() < 0.9, source.random() < 0.7
    ends = [(name, "A", world.client_nic_bps) for name in world.clients]
    ends += [(name, "B", world.server_nic_bps) for name in world.servers]
    links = [StatedLink(f"{a} – {b}", a, b, int(rate) if known else None, None) for a, b, rate in ends]
    wide = StatedLink("A – B", "A", "B", int(world.wide_bps) if known else None, world.rtt_s if rtt else None)
    return (wide, *links)
