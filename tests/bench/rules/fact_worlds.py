"""Worlds in which every rule speaks, with all that agents tell of nodes in them, and each of these values changed."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

from apps.bench import tools
from apps.bench.rules.base import Evidence, FileSystemFacts, LinkFacts, PathFacts, Ratio
from apps.bench.rules.tcp.sysctl import ROLES
from tests.bench.rules import null_worlds, test_levels, test_mpi, test_path_rules
from tests.bench.rules.cases import KIB, LINKS, Maker, evidence
from tests.bench.rules.storing import GPFS, MB, NFS, RAID1, Storing, polarised
from tests.bench.rules.test_alike_layers import BY_ONE, world
from tests.bench.rules.test_best_streams import COUNTS, evidence_of_rates
from tests.bench.rules.test_many_nodes import varied
from tests.bench.rules.test_mpi_network import QDR
from tests.bench.rules.test_own_links import growing
from tests.bench.rules.test_silent_files import FACTORS, RATES
from tests.bench.rules.test_silent_files import world as silent
from tests.bench.rules.test_two_directions import Pair

PATH = PathFacts(1e9, 0.0048, 9000, (LinkFacts("in", 10e9, 0.001, 9000), LinkFacts("wan", 1e9, 0.0038, 9000)))
FAR = {("KGFS01", "S"): PathFacts(1e9, 0.1355, 9000, (LinkFacts("wan", 1e9, 0.1355, 9000),), "wan")}


def settings(number, switches):
    """Return what an agent tells; the number, from 1 on, stands in each value."""
    if switches is ROOM:
        switches = {name: value.format(number) for name, value in ROOM.items()}
    sysctls = {
        "net.core.rmem_max": f"13107{number}",
        "net.core.wmem_max": f"13107{number}",
        "net.ipv4.tcp_rmem": f"409{number} 8738{number} 17476{number}",
        "net.ipv4.tcp_wmem": f"409{number} 1638{number} 13107{number}",
        "net.ipv4.tcp_congestion_control": f"zq{number}",
        **switches,
    }
    interface = {"name": f"zq{number}", "state": "up", "kind": "ether", "addresses": ["10.0.0.1/24"], "mtu": 1500}
    return {
        "sysctls": sysctls,
        "interfaces": [interface | {"duplex": "half", "speed_bps": number * 10**7, "mtu": 1500 - number}],
        "congestion_controls": {"available": ["cubic"], "current": f"zq{number}"},
    }


SWITCHES = {
    f"net.ipv4.{name}": "0" for name in ("tcp_sack", "tcp_timestamps", "tcp_window_scaling", "tcp_moderate_rcvbuf")
} | {"net.ipv4.ip_no_pmtu_disc": "1"}
ROOM = {
    "net.ipv4.tcp_window_scaling": "1",
    "net.ipv4.tcp_moderate_rcvbuf": "1",
    "net.ipv4.tcp_rmem": "4096 87380 {}0000000",
    "net.ipv4.tcp_wmem": "4096 87380 {}0000000",
}


def of_tcp(switches):
    """Return evidence of pairs of ends between nodes that are set so, for each way to measure a path."""
    make = Maker()
    capped = make.tcp([393e6], window=400 * KIB, observed=236_000, rtt=0.0048)
    capped.metrics["window_granted"] = dict.fromkeys(capped.metrics["goodput"], 425984.0)
    alone = make.tcp([100e6, 101e6], rtt=0.0048, observed=65535)
    alone.metrics["retransmits"] = dict.fromkeys(alone.metrics["goodput"], 30.0)
    probe = make.point(tools.get("pathrate"), {}, {"capacity_low": 9.3e8, "capacity_high": 9.6e8})
    roomy = make.tcp([240e6, 238e6, 242e6], observed=300_000)
    full = replace(make.tcp([930e6, 931e6], rtt=0.0048), observed={"mss": 1448})
    sweep = make.window_sweep({64: [100, 101], 256: [400, 402], 1024: [900, 905]})
    controls = [
        make.tcp([rate, rate * 1.01, rate * 1.02], congestion=name, rtt=0.0048)
        for name, rate in (("bbr", 700e6), ("cubic", 100e6))
    ]
    ping, lossless = make.ping(0.0048), make.udp(500e6, 0.0)
    facts = {role: settings(place, switches) for place, role in enumerate(ROLES, start=1)}
    for points in (
        [capped],
        [alone],
        sweep,
        controls,
        [alone, lossless],
        [probe, roomy],
        [full],
        [alone, capped, *sweep, *controls],
    ):
        for path in (PATH, replace(PATH, links=())):
            yield Evidence((ping, *points), path, facts)


def of_files():
    """Return evidence of file systems that are mounted so."""
    mount = {"mount": "/zq1", "source": "zq1:/", "wsize": 65537, "rsize": 65539}
    nfs = FileSystemFacts("fs", "nfs", None, ("S",), mount)
    yield Storing().io("fs", write=30 * MB).evidence(nfs)
    streams = Storing().io("fs", write=[19 * MB, 19 * MB])
    for count, rate in ((1, 159), (8, 928)):
        streams.tcp("KGFS01", "S", [rate] * 2, streams=count, direction="forward", window=0)
    yield streams.evidence(nfs)
    lustre = {"stripe_count": 1, "max_rpcs_in_flight": 8, "rpc_size": 1048577}
    yield Storing().io("fs", write=60 * MB).evidence(FileSystemFacts("fs", "lustre", None, ("S",), lustre), paths=FAR)
    sockets = {"socketRcvBufferSize": 262145, "socketSndBufferSize": 262147}
    pool = {"maxMBpS": 11, "pagepool": 1048577}
    for options in (sockets, pool):
        gpfs = FileSystemFacts("fs", "gpfs", 2**20, ("S",), options)
        for storing in (Storing().io("fs", write=30 * MB), Storing().io("fs", write=1.9 * MB)):
            storing.disk("SAN", "S", write=200 * MB)
            storing.tcp("KGFS01", "S", [900, 905], streams=4, direction="forward", window=0)
            storing.tcp("KGFS01", "S", [900, 905], streams=4, direction="reverse", window=0)
            san = FileSystemFacts("SAN", "ext", None, ("S",))
            yield storing.evidence(gpfs, san, paths=FAR)
            yield storing.evidence(gpfs, san)


# Odd numbers that stand in nothing else.
OPTIONS: dict[str, dict[str, Any]] = {
    "gpfs": {
        "maxMBpS": 13, "pagepool": 1048583, "maxTcpConnsPerNodeConn": 1,
        "socketRcvBufferSize": 262147, "socketSndBufferSize": 262151,
    },
    "nfs": {"mount": "/zq7", "source": "zq7:/", "wsize": 65537, "rsize": 65539, "nconnect": 3, "timeo": 607},
    "lustre": {"stripe_count": 1, "max_rpcs_in_flight": 7, "rpc_size": 1048579},
}  # fmt: skip
# The last number of each word.
_NUMBER = re.compile(r"[0-9]+(?![^ ]*[0-9])")


def of_ends() -> Iterator[Evidence]:
    """Yield evidence of pairs of ends, of which all that agents tell is in the facts."""
    for switches in (SWITCHES, ROOM, {}):
        yield from of_tcp(switches)
    for make in null_worlds.OF_ENDS:
        yield make(null_worlds.Draw(3, 0.02, 5), 1.6)
    make, loads = Maker(), (50e6, 200e6)
    lossy = [make.udp(rate * (1 - 1e-3), 1e-3, rate=round(rate)) for rate in loads]
    yield evidence([make.ping(0.0048), *lossy, make.tcp([601e6])], LINKS)
    yield evidence([make.ping(0.1355), *test_path_rules.recorded_loads(make)], replace(LINKS, capacity_bps=None))
    yield evidence([make.ping(0.0048), make.tcp([0, 927e6, 932e6])], LINKS)
    yield evidence([make.ping(0.0048), make.tcp([300e6, 301e6, 302e6, 900e6, 901e6, 902e6] * 2)], LINKS)
    yield test_path_rules.sighted(make, test_path_rules.ONE, test_path_rules.ONE, test_path_rules.OTHER)
    yield Pair(1).evidence(1e9, 3e8)[1]
    yield test_levels.of_times(1).evidence
    yield evidence_of_rates({(0, count): 30 * min(count, 16) for count in COUNTS}, Random(2))


def of_whole() -> Iterator[Evidence]:
    """Yield evidence of whole campaigns."""
    yield from of_files()
    for make in null_worlds.OF_WHOLE:
        yield make(null_worlds.Draw(3, 0.02, 5), 1.6)
    yield polarised()
    for kind in OPTIONS:
        yield world({"write": 25}, tcp=BY_ONE, kind=kind)
    yield Storing().io(NFS.name, write=36 * MB).disk(RAID1.name, "PGFS01", write=30 * MB).evidence(NFS, RAID1)
    pool = replace(GPFS, options={"pagepool": 8 * 1024**3 + 1})
    yield Storing().io(GPFS.name, read=100 * MB).evidence(pool)
    alike = Storing().io("KIGFS", clients=("PGFS01", "PGFS02"), write=[80 * MB] * 2, read=[105 * MB] * 2)
    alike.io("KIGFS", clients=("PDAISY00", "PDAISY01"), write=[80 * MB] * 2, read=[105 * MB] * 2)
    yield alike.evidence(FileSystemFacts("KIGFS", "gpfs", 262144, ("KIGFS01",)), paths={})
    yield growing("two")
    yield varied("clients", "grows", NFS)
    factor = next(iter(FACTORS))
    yield silent(factor, RATES["flat"], empty=(1,))
    yield test_mpi.pairs({1: 104, 2: 107, 4: 109, 8: 89})
    blocks = [{"file_system_block": size} for size in (1024**2, 1024**2 // 2)]
    yield Evidence((), ratios=(Ratio("btio", "io_rate", *blocks, 1.5, 2.0),))
    yield test_mpi.runs({1_000_000: [100]}, factor="collective_size")
    ports = Storing().mpi("osu-bandwidth", {"bandwidth": [1.5e9, 1.51e9]}, placement="other-node")
    yield ports.evidence(interconnects=QDR)


@cache
def every() -> tuple[tuple[Evidence, bool], ...]:
    """Return all worlds with all that agents tell, and whether each is of one pair of ends."""
    return *((_completed(item), True) for item in of_ends()), *((_completed(item), False) for item in of_whole())


def _completed(item: Evidence) -> Evidence:
    """Return evidence with facts of nodes and options of file systems where it has none."""
    nodes = {node for point in item.points for names in point.roles.values() for node in names}
    facts = {}
    for place, name in enumerate(sorted(nodes)[:2] or ROLES, start=8):
        # An interface at half duplex is a cause beside which others are not looked for.
        facts[name] = settings(place, ROOM) | {"interfaces": []}
    systems = {
        name: replace(system, options=system.options or OPTIONS.get(system.kind, {}))
        for name, system in item.file_systems.items()
    }
    return replace(item, facts=item.facts or facts, file_systems=systems)


def facts_in(item: Evidence) -> dict[str, Any]:
    """Return what agents tell in evidence."""
    return {"facts": item.facts, "options": {name: system.options for name, system in item.file_systems.items()}}


def with_facts(item: Evidence, facts: dict[str, Any]) -> Evidence:
    """Return evidence in which agents tell something else."""
    systems = {name: replace(system, options=facts["options"][name]) for name, system in item.file_systems.items()}
    return replace(item, facts=facts["facts"], file_systems=systems)


def variants(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what agents tell with one of its values changed, each with the name of that value."""
    if isinstance(value, dict | list | tuple):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for name, item in members:
            for place, other in variants(item):
                copy = dict(value) if isinstance(value, dict) else list(value)
                copy[name] = other
                yield f"{name}/{place}".rstrip("/"), copy
    elif isinstance(value, bool):
        yield "", not value
    elif isinstance(value, int | float):
        yield "", _another(value)
    elif value in ("0", "1"):
        yield "", str(1 - int(value))
    elif isinstance(value, str):
        numbers = list(_NUMBER.finditer(value))
        for number in numbers:
            yield "", f"{value[: number.start()]}{_another(int(number[0]))}{value[number.end() :]}"
        if not numbers:
            yield "", f"{value}x"


def _another(number: float) -> float:
    """Return a number that is another one where people read it, of few digits, as well."""
    return number + number // 8 + 2
