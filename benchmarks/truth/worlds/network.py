"""A world of two hosts and the path between them."""

import dataclasses
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench.toolkit import Tool
from benchmarks.truth.worlds import tcp
from benchmarks.truth.worlds.base import Json, StatedLink, StatedNode, World
from benchmarks.truth.worlds.noise import Noise
from benchmarks.truth.worlds.tcp import Host, Line, Reached, Setting, Way

CLIENT, SERVER = "client", "server"
LAN_RTT = 2e-5
PREFIX = "setting."
# (least, default, most) of tcp_rmem and tcp_wmem that hosts are found with: old, usual, small, tuned.
LIMITS = (
    ((4096, 87380, 174760), (4096, 16384, 131072)),
    ((4096, 131072, 6291456), (4096, 16384, 4194304)),
    ((4096, 131072, 262144), (4096, 16384, 262144)),
    ((4096, 131072, 1048576), (4096, 65536, 1048576)),
    ((4096, 131072, 67108864), (4096, 65536, 67108864)),
    ((4096, 131072, 268435456), (4096, 65536, 268435456)),
)
MAXIMA = (131071, 212992, 1048576, 16777216, 67108864)


@dataclass(frozen=True, kw_only=True)
class NetworkWorld(World):
    """Two hosts and their path as they are; `drain_bps` is what the receiver takes of datagrams.

    Data goes from `client` to `server`; where it `is_back` these play each other's roles, and the tools ask for it.
    Datagrams are `length` B long; where there are bursts each stream loses one of them in every run, and one of
    the runs of an offered load does at times.
    """

    client: Host
    server: Host
    way: Way
    drain_bps: float = math.inf
    is_back: bool = False
    length: int = 1448
    has_bursts: bool = False

    def host(self, role: str) -> Host:
        """Return the host that plays a role."""
        return self.client if (role == CLIENT) != self.is_back else self.server

    def reach(self, parameters: Mapping[str, Any]) -> Reached:
        """Return what a setting, as the tools' parameters name it, really reaches."""
        name, value = Tool.backwards_at
        if not self.is_back and parameters.get(name) == value:
            return tcp.reach(self.server, self.client, self.way, setting_of(parameters, is_back=True))
        return tcp.reach(self.client, self.server, self.way, setting_of(parameters, is_back=self.is_back))

    def with_hosts(self, client: Host, server: Host) -> "NetworkWorld":
        """Return the world with other hosts of the same names; what their agents tell are these hosts' settings."""
        hosts = {host.name: host.sysctls for host in (client, server)}
        nodes = tuple(
            dataclasses.replace(node, facts={**node.facts, "sysctls": _told(node.facts["sysctls"], hosts[node.name])})
            if node.facts
            else node
            for node in self.nodes
        )
        return dataclasses.replace(self, nodes=nodes, client=client, server=server)

    @property
    def capacity_bps(self) -> float:
        """Return what the path carries at the line, the hosts' interfaces included."""
        return tcp.line_rate(self.client, self.server, self.way)

    @property
    def bdp_bytes(self) -> float:
        """Return what the path holds."""
        return self.capacity_bps * self.way.rtt_s / 8


def setting_of(parameters: Mapping[str, Any], *, is_back: bool = False) -> Setting:
    """Return the setting of a tool's parameters, and the nodes' settings among them: who sends has the client's."""
    sysctls: dict[str, dict[str, str]] = {CLIENT: {}, SERVER: {}}
    mtus: dict[str, int] = {}
    pace = math.inf
    for name, value in parameters.items():
        if not name.startswith(PREFIX) or not str(value).strip():
            continue
        role, _dot, key = name.removeprefix(PREFIX).partition(".")
        if is_back:
            role = SERVER if role == CLIENT else CLIENT
        if key == "mtu":
            mtus[role] = int(value)
        elif key == "qdisc":
            pace = (
                float(str(value).rpartition(" ")[2].removesuffix("mbit")) * 1e6 if "maxrate" in str(value) else pace
            )
        else:
            sysctls[role][key] = str(value)
    return Setting(
        window=int(parameters.get("window") or 0),
        streams=int(parameters.get("streams") or 1),
        congestion=str(parameters.get("congestion") or ""),
        sysctls=sysctls,
        mtus=mtus,
        pace_bps=pace,
    )


def draw(seed: int, noise: Noise, repetitions: int, source: random.Random) -> NetworkWorld:
    """Return a path between two hosts with its inventory; nothing is measured yet."""
    capacity = source.choice((1e8, 457e6, 622e6, 1e9, 1e9, 1e9, 2.5e9, 1e10, 1e10, 4e10))
    rtt = source.choice((2e-4, 1e-3, 2e-3, 4.8e-3, 1e-2, 2e-2, 5e-2, 0.1355, 0.2)) * source.uniform(0.8, 1.25)
    lan = max(1e9, capacity * source.choice((1, 1, 4, 10)))
    if source.random() < 0.12:
        # The hosts' own interface is the bottleneck.
        lan = capacity / source.choice((2, 4, 10))
    mtu = source.choice((1500, 1500, 1500, 9000))
    host_mtu = mtu if source.random() < 0.75 else source.choice((1500, 9000))
    traits: list[str] = []
    hole = host_mtu > mtu and source.random() < 0.6
    hosts = [_host(name, lan, host_mtu, source) for name in (CLIENT, SERVER)]
    way = Way(
        lines=(
            Line("client – A", lan, LAN_RTT, max(mtu, host_mtu)),
            Line("A – B", capacity, rtt, mtu),
            Line("server – B", lan, LAN_RTT, max(mtu, host_mtu)),
        ),
        loss=10 ** source.uniform(-5.3, -2.5) if source.random() < 0.2 else 0.0,
        queue_bytes=source.choice((0.1, 0.5, 1, 1, 2, 5)) * capacity * rtt / 8,
        is_black_hole=hole,
    )
    bottleneck = min(lan, capacity)
    shaped = source.random()
    if shaped < 0.08:
        way = dataclasses.replace(way, shaper_bps=bottleneck * source.uniform(0.02, 0.4))
    elif shaped < 0.13:
        way = dataclasses.replace(way, policer_bps=bottleneck * source.uniform(0.05, 0.4))
    elif shaped < 0.20:
        way = dataclasses.replace(way, aggregate_bps=bottleneck * source.uniform(0.2, 0.85))
    world = NetworkWorld(
        seed=seed,
        noise=noise,
        repetitions=repetitions,
        nodes=(),
        client=hosts[0],
        server=hosts[1],
        way=way,
        drain_bps=bottleneck * source.uniform(0.2, 0.8) if source.random() < 0.12 else math.inf,
    )
    links = _links(world, source, traits)
    return dataclasses.replace(
        world,
        switches=(("A", "Site A"), ("B", "Site B")),
        nodes=tuple(
            StatedNode(host.name, site, _facts(host, source) if source.random() < 0.6 else None)
            for host, site in ((hosts[0], "Site A"), (hosts[1], "Site B"))
        ),
        links=links,
        traits=tuple(traits),
    )


def _host(name: str, nic: float, mtu: int, source: random.Random) -> Host:
    receive, send = source.choice(LIMITS)
    sysctls = {
        tcp.RMEM: " ".join(map(str, receive)),
        tcp.WMEM: " ".join(map(str, send)),
        tcp.RMEM_MAX: str(source.choice(MAXIMA)),
        tcp.WMEM_MAX: str(source.choice(MAXIMA)),
        tcp.SCALING: "0" if source.random() < 0.04 else "1",
        tcp.TUNING: "0" if source.random() < 0.04 else "1",
        tcp.SACK: "0" if source.random() < 0.04 else "1",
        tcp.TIMESTAMPS: "1",
        tcp.PROBING: source.choice(("0", "0", "1")),
        tcp.NO_DISCOVERY: "0",
        tcp.CONTROL: source.choice(("cubic", "cubic", "cubic", "reno", "bbr")),
    }
    flow = source.choice((3e8, 9e8, 2.3e9, 5e9, 1.2e10, 2.5e10, 5e10)) * source.uniform(0.9, 1.1)
    return Host(name, nic, mtu, flow, flow * source.choice((1, 2, 4, 8)), sysctls, source.uniform(0.58, 0.72))


def _told(sysctls: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    return {key: now[key] for key in sysctls}


def _facts(host: Host, source: random.Random) -> Json:
    known = host.sysctls if source.random() < 0.8 else {key: host.sysctls[key] for key in (tcp.RMEM, tcp.WMEM)}
    interface = {
        "name": "eth0",
        "state": "up",
        "addresses": ["10.0.0.1/24"],
        "mtu": host.mtu,
        "speed_bps": int(host.nic_bps),
    }
    return {"sysctls": dict(known), "interfaces": [interface]}


def _links(world: NetworkWorld, source: random.Random, traits: list[str]) -> tuple[StatedLink, ...]:
    """Return the links as somebody wrote them down: in full, in part, or wrongly."""
    if source.random() < 0.12:
        return ()
    lines = world.way.lines
    know_capacity, know_rtt, know_mtu = (source.random() < chance for chance in (0.85, 0.7, 0.7))
    wrong = 1.0
    if source.random() < 0.06:
        wrong = source.choice((0.25, 4.0))
        traits.append("stated-capacity-wrong")
    if know_mtu and lines[1].mtu < world.client.mtu and source.random() < 0.7:
        traits.append("stated-mtu-wrong")
    ends = ((CLIENT, "A"), ("A", "B"), ("B", SERVER))
    links = []
    for line, (a, b) in zip(lines, ends, strict=True):
        is_wide = {a, b} == {"A", "B"}
        capacity = line.capacity_bps * (wrong if is_wide else 1)
        mtu = line.mtu
        if is_wide and "stated-mtu-wrong" in traits:
            mtu = world.client.mtu
        links.append(
            StatedLink(
                line.name,
                a,
                b,
                int(capacity) if know_capacity else None,
                line.rtt_s if know_rtt else None,
                mtu if know_mtu else None,
            )
        )
    return tuple(links)
