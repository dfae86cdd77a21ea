"""What agents told of how nodes are set stands in no record of a finding that readers of other teams get."""

import dataclasses

import pytest

from apps.bench import rules
from apps.bench.rules import of_nodes
from apps.bench.rules.base import Evidence, FileSystemFacts, LinkFacts, PathFacts
from apps.bench.rules.tcp.sysctl import ROLES
from tests.bench.rules import cases
from tests.bench.rules.storing import MB, Storing

KIB = 1024
PATH = PathFacts(1e9, 0.0048, 9000, (LinkFacts("in", 10e9, 0.001, 9000), LinkFacts("wan", 1e9, 0.0038, 9000)))
FAR = {("KGFS01", "S"): PathFacts(1e9, 0.1355, 9000, (LinkFacts("wan", 1e9, 0.1355, 9000),), "wan")}


def settings(secret, switches):
    """Return what an agent tells; `secret` is a number from 1 to 9 that stands in each value."""
    if switches is ROOM:
        switches = {name: value.format(secret) for name, value in ROOM.items()}
    sysctls = {
        "net.core.rmem_max": f"13107{secret}",
        "net.core.wmem_max": f"13107{secret}",
        "net.ipv4.tcp_rmem": f"409{secret} 8738{secret} 17476{secret}",
        "net.ipv4.tcp_wmem": f"409{secret} 1638{secret} 13107{secret}",
        "net.ipv4.tcp_congestion_control": f"zq{secret}",
        **switches,
    }
    interface = {"name": f"zq{secret}", "state": "up", "kind": "ether", "addresses": ["10.0.0.1/24"], "mtu": 1500}
    return {
        "sysctls": sysctls,
        "interfaces": [interface | {"duplex": "half", "speed_bps": secret * 10**7, "mtu": 1500 - secret}],
        "congestion_controls": {"available": ["cubic"], "current": f"zq{secret}"},
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


def of_tcp(secret, switches):
    """Return evidence of pairs of ends between nodes that are set so, for each way to measure a path."""
    make = cases.Maker()
    capped = make.tcp([393e6], window=400 * KIB, observed=236_000, rtt=0.0048)
    capped.metrics["window_granted"] = dict.fromkeys(capped.metrics["goodput"], 425984.0)
    alone = make.tcp([100e6, 101e6], rtt=0.0048, observed=65535)
    alone.metrics["retransmits"] = dict.fromkeys(alone.metrics["goodput"], 30.0)
    probe = make.point(cases.tools.get("pathrate"), {}, {"capacity_low": 9.3e8, "capacity_high": 9.6e8})
    roomy = make.tcp([240e6, 238e6, 242e6], observed=300_000)
    full = dataclasses.replace(make.tcp([930e6, 931e6], rtt=0.0048), observed={"mss": 1448})
    sweep = make.window_sweep({64: [100, 101], 256: [400, 402], 1024: [900, 905]})
    controls = [
        make.tcp([rate, rate * 1.01, rate * 1.02], congestion=name, rtt=0.0048)
        for name, rate in (("bbr", 700e6), ("cubic", 100e6))
    ]
    ping, lossless = make.ping(0.0048), make.udp(500e6, 0.0)
    # Which of the two has a switch off is told by what is said of it, too.
    facts = {
        role: settings(secret, switches if switches is ROOM or place == secret else {})
        for place, role in enumerate(ROLES, start=1)
    }
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
        for path in (PATH, dataclasses.replace(PATH, links=())):
            yield Evidence((ping, *points), path, facts)


def of_files(secret):
    """Return evidence of file systems that are mounted so."""
    mount = {"mount": f"/zq{secret}", "source": f"zq{secret}:/", "wsize": 65536 + secret, "rsize": 65536 + secret}
    nfs = FileSystemFacts("fs", "nfs", None, ("S",), mount)
    yield Storing().io("fs", write=30 * MB).evidence(nfs)
    streams = Storing().io("fs", write=[19 * MB, 19 * MB])
    for count, rate in ((1, 159), (8, 928)):
        streams.tcp("KGFS01", "S", [rate] * 2, streams=count, direction="forward", window=0)
    yield streams.evidence(nfs)
    lustre = {"stripe_count": 1, "max_rpcs_in_flight": 8, "rpc_size": 2**20 + secret}
    yield Storing().io("fs", write=60 * MB).evidence(FileSystemFacts("fs", "lustre", None, ("S",), lustre), paths=FAR)
    sockets = {"socketRcvBufferSize": 262144 + secret, "socketSndBufferSize": 262144 + secret}
    pool = {"maxMBpS": 10 + secret, "pagepool": 2**20 + secret}
    for options in (sockets, pool):
        gpfs = FileSystemFacts("fs", "gpfs", 2**20, ("S",), options)
        for storing in (Storing().io("fs", write=30 * MB), Storing().io("fs", write=1.9 * MB)):
            storing.disk("SAN", "S", write=200 * MB)
            storing.tcp("KGFS01", "S", [900, 905], streams=4, direction="forward", window=0)
            storing.tcp("KGFS01", "S", [900, 905], streams=4, direction="reverse", window=0)
            san = FileSystemFacts("SAN", "ext", None, ("S",))
            yield storing.evidence(gpfs, san, paths=FAR)
            yield storing.evidence(gpfs, san)


def records_of(secret, switches):
    """Return {(evidence, rule, subject): record} of all findings."""
    listed = [(item, rules.of_ends()) for item in of_tcp(secret, switches)]
    listed += [(item, rules.of_whole()) for item in of_files(secret)]
    return {
        (number, draft.rule, draft.subject): draft.as_json()
        for number, (evidence, asked) in enumerate(listed)
        for answer in rules.runner.ask(asked, evidence)
        for draft in answer.drafts
    }


@pytest.mark.parametrize("switches", [SWITCHES, ROOM, {}], ids=["off", "roomy", "untold"])
def test_records_for_others_are_the_same_however_nodes_are_set(switches):
    before, after = records_of(1, switches), records_of(2, switches)
    differing = {}
    for key in before.keys() & after.keys():
        one, other = (of_nodes.for_others(records[key], records[key]["rule"]) for records in (before, after))
        # A title says of which node something is to be switched on, and so of which it is off.
        if names := {name for name in one if one[name] != other[name] and "title" not in name}:
            differing[key] = {name: (one[name], other[name]) for name in names}
    assert differing == {}


def test_the_rules_that_are_named_say_how_nodes_are_set():
    """Else a rule is named that has no need to be, or this test does not reach it."""
    telling = set()
    for switches in (SWITCHES, ROOM, {}):
        before, after = records_of(1, switches), records_of(2, switches)
        telling |= {before[key]["rule"] for key in before.keys() & after.keys() if before[key] != after[key]}
    assert telling == of_nodes.RULES.keys()
