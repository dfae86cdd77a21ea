"""What one client had, times their number, is said as such: no measurement, and no limit is named by it alone."""

import pytest

from apps.bench.rules import layers, storage
from apps.bench.rules.base import NETWORK, Evidence, FileSystemFacts, LinkFacts, PathFacts
from apps.bench.rules.layers.fullness import FULL
from apps.bench.rules.layers.verdicts import judge_all
from tests.bench.rules.storing import CLIENTS, MB, Storing

SERVER = FileSystemFacts("fs", "nfs", None, ("D",))
LOCAL = FileSystemFacts("disk", "ext", None, ("D",))
ONE = 934e6 / 8
TCP = [931, 934, 937]


def world(rate: float, *, clients: int = 4, alone: int = 1, at_once: bool = False, trunk: float = 0.0) -> Evidence:
    """Return a file system at a rate (B/s) of clients with links of their own, of which `alone` measured TCP."""
    paths = {}
    for client in CLIENTS[:clients]:
        links = LinkFacts(f"{client} - switch", 1e9, 0.0001, 1500), LinkFacts("switch - D", trunk, 0.0001, 1500)
        paths[client, "D"] = PathFacts(1e9, 0.0002, 1500, links[: 2 if trunk else 1], links[0].name)
    make = Storing().io("fs", clients=CLIENTS[:clients], write=[rate * part for part in (0.99, 1, 1.01)])
    make.disk("disk", "D", write=[900 * MB] * 3)
    make.points[-1].parameters["threads"] = clients
    for client in CLIENTS[:alone]:
        make.tcp(client, "D", TCP, direction="forward", streams=4)
        # As many connections as the file system opens have as much.
        make.tcp(client, "D", TCP, direction="forward", streams=1)
    if at_once:
        rates = {"goodput": [mbit * clients * 1e6 for mbit in TCP]}
        roles = {"client": CLIENTS[:clients], "server": ("D",)}
        make.point(NETWORK, rates, tool="iperf3-tcp", roles=roles, direction="forward", streams=4)
        # The same between fewer streams: no more goes there.
        make.point(NETWORK, rates, tool="iperf3-tcp", roles=roles, direction="forward", streams=1)
    return make.evidence(SERVER, LOCAL, paths=paths)


@pytest.mark.parametrize("alone", [1, 2, 4])
@pytest.mark.parametrize("clients", [1, 2, 4])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 0.95, 1.3, 1.9, 2.5, 3.0])
def test_a_rate_with_an_interval_was_measured_and_no_other_names_a_limit(share, clients, alone):
    evidence = world(share * ONE, clients=clients, alone=min(alone, clients))
    values = {
        trial: rate for point in evidence.points for one in point.metrics.values() for trial, rate in one.items()
    }
    (table,) = layers.table(evidence)
    row = table.rows[0]
    assert row.layer == "network"
    rates = [values[trial] / 8 for trial in row.trials]
    if row.interval:
        assert row.value == pytest.approx(sum(rates) / len(rates))
        assert row.note is None
    else:
        start = "By one client, times" if min(alone, clients) == 1 else "By one client at a time, added up for"
        assert str(row.note).startswith(f"{start} {clients}:")
    lines = [str(line) for draft in layers.overview(evidence) for line in draft.why]
    assert not [line for line in lines if line.startswith("The network alone")] or row.interval
    if clients > 1 and 0.7 * ONE < share * ONE < 0.9 * row.value:
        assert table.layer == ""
        assert any(f"The network from {clients} clients at once" in str(line) for line in table.missing)
        of_disk = [draft for draft in storage.overview(evidence) if draft.rule == "storage-share-of-disk"]
        assert share < FULL or not of_disk
    # Less than one of them had alone is no limit of the network's, however many there are.
    assert share > 0.7 or table.layer == "file-system"


def test_links_that_all_share_or_all_clients_at_once_tell_what_one_cannot():
    assert layers.table(world(2 * ONE))[0].layer == ""
    assert layers.table(world(2 * ONE, trunk=1e10))[0].layer == "file-system"
    assert layers.table(world(0.95 * ONE, trunk=1e9))[0].layer == "network"
    (verdict,) = judge_all(world(2 * ONE, at_once=True))
    assert (verdict.layer, verdict.network.times) == ("file-system", 1)
    assert verdict.network.value == pytest.approx(4 * ONE)
    assert verdict.network.interval
    # All that every link carries, by what was measured and by what is described, is the network's.
    assert layers.table(world(3.97 * ONE))[0].layer == "network"
