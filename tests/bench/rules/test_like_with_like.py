"""What else would look like it: limits that were not shown, figures that are not alike, shares above all."""

import itertools
import random
import re

import pytest

from apps.bench import model
from apps.bench.rules import layers, mpi, shapes, storage, workloads
from apps.bench.rules.base import DIAGNOSIS, DOUBT, Evidence, FileSystemFacts, LinkFacts, PathFacts
from apps.bench.rules.layers.links import stated_rate
from apps.bench.rules.shapes.curves import curves
from apps.bench.rules.shapes.forms import trend_of
from tests.bench.rules.storing import CLIENTS, MB, Storing, sweep
from tests.rotation import number_of

SERVERS = tuple(f"s{number}" for number in range(4))
STRIPED = FileSystemFacts("SCRATCH", "lustre", None, SERVERS)
WIDE = LinkFacts("A - B", 1e10, 0.001, 9000)
ONE = 1e9 / 8


def star(clients=CLIENTS, servers=SERVERS, *, port=1e9, wide=WIDE):
    """Return the paths between clients of one site and servers of another, with a link for each of them."""
    return {
        (client, server): PathFacts(
            min(port, wide.capacity_bps or port), 0.001, 9000,
            (LinkFacts(f"{client} - A", port), wide, LinkFacts(f"{server} - B", port)), wide.name,
        )
        for client in clients
        for server in servers
    }  # fmt: skip


def ending_in(rate):
    """Return the paths of fast clients to servers of this rate (bit/s) each."""
    return {
        ends: PathFacts(1e9, mtu=9000, links=(*path.links[:2], LinkFacts(f"{ends[1]} - B", rate)))
        for ends, path in star(port=1e10).items()
    }


def evidence_of(rate, *, clients=CLIENTS, tcp=None, paths=None, systems=(STRIPED,), disk=None):
    make = Storing().io("SCRATCH", write=[rate, rate * 1.002, rate * 0.998], clients=clients)
    for mbit, streams in tcp or ():
        make.tcp(clients[0], SERVERS[0], [mbit, mbit * 1.001, mbit * 0.999], streams=streams)
    if disk:
        make.disk("LOCAL", SERVERS[0], write=[disk, disk * 1.001, disk * 0.999])
    return make.evidence(*systems, paths=star() if paths is None else paths)


def rules_of(drafts):
    return {draft.rule for draft in drafts}


def test_clients_of_a_striped_file_system_reach_all_of_its_servers():
    paths = star()
    for count in (1, 2, 4):
        carried = stated_rate(Evidence((), paths=paths), CLIENTS[:count], STRIPED)
        assert carried == pytest.approx(count * ONE, rel=0.02)
    # Narrow servers are what is full, all of them together.
    narrow = ending_in(5e8)
    assert stated_rate(Evidence((), paths=narrow), CLIENTS, STRIPED) == pytest.approx(4 * ONE / 2, rel=0.02)


def test_a_client_without_a_path_to_one_of_the_servers_tells_no_ceiling():
    paths = star()
    del paths[CLIENTS[0], SERVERS[3]]
    assert stated_rate(Evidence((), paths=paths), CLIENTS[:1], STRIPED) is None


def test_one_of_several_nfs_servers_is_no_stripe():
    several = FileSystemFacts("HOME", "nfs", None, SERVERS)
    assert stated_rate(Evidence((), paths=star(port=1e10)), CLIENTS, several) == pytest.approx(1e10 / 8, rel=0.02)
    assert stated_rate(Evidence((), paths=ending_in(1e9)), CLIENTS, several) is None


def test_what_several_servers_give_is_no_caches_figure():
    assert rules_of(layers.overview(evidence_of(3.4 * ONE))) <= {"limiting-layer", "undecided-layer"}
    (table,) = layers.table(evidence_of(3.4 * ONE))
    assert all(row.ratio is None or row.ratio <= 1 for row in table.rows)


@pytest.mark.parametrize(
    ("tcp", "layer"),
    [
        # One connection that is held by its window is no ceiling, whatever comes near it.
        ([(260, 1)], ""),
        # Nor are more of them that gain as many times as much.
        ([(65, 1), (260, 4)], ""),
        # Four that fill what the links carry leave no doubt that the file system does not.
        ([(250, 1), (950, 4)], "network"),
    ],
)
def test_tcp_that_fills_nothing_is_no_ceiling(tcp, layer):
    rate = 950e6 / 8 if layer else 31 * MB
    evidence = evidence_of(rate, clients=CLIENTS[:1], tcp=tcp)
    (table,) = layers.table(evidence)
    assert table.layer == layer


def test_more_streams_that_gain_nothing_show_that_the_path_is_full():
    one = FileSystemFacts("SCRATCH", "nfs", None, SERVERS[:1])
    evidence = evidence_of(31 * MB, clients=CLIENTS[:1], tcp=[(258, 1), (260, 4)], paths={}, systems=(one,))
    assert [table.layer for table in layers.table(evidence)] == ["network"]
    evidence = evidence_of(31 * MB, clients=CLIENTS[:1], tcp=[(258, 1)], paths={}, systems=(one,))
    assert [table.layer for table in layers.table(evidence)] == [""]


def test_what_disks_are_only_said_to_give_does_not_name_them():
    facts = FileSystemFacts("SCRATCH", "lustre", None, SERVERS, disk_rates={"write": 32 * MB, "read": 32 * MB})
    (table,) = layers.table(evidence_of(31 * MB, systems=(facts,)))
    assert table.layer == ""
    assert any("disks alone" in str(line) for line in table.missing)


def test_disks_that_one_task_measured_are_not_ruled_out_for_four():
    local = FileSystemFacts("LOCAL", "xfs", None, SERVERS[:1])
    single = FileSystemFacts("SCRATCH", "nfs", None, SERVERS[:1])
    for clients, layer in ((CLIENTS, ""), (CLIENTS[:1], "file-system")):
        evidence = evidence_of(72 * MB, clients=clients, systems=(single, local), disk=110 * MB)
        assert [table.layer for table in layers.table(evidence)] == [layer]


def lan_and_wan(streams=((1, 165), (4, 1770))):
    """Return a file system that a client on its LAN and one over the WAN measured; both end at the same server."""
    server = LinkFacts("s0 - B", 2e9, 0.0001, 9000)
    far = PathFacts(2e9, 0.0048, 9000, (LinkFacts("far - A", 1e10), LinkFacts("A - B", 1e10), server), server.name)
    near = PathFacts(2e9, 0.0001, 9000, (LinkFacts("near - B", 1e10), server), server.name)
    make = Storing().io("HOME", write=[20.7 * MB] * 3, clients=("far",))
    make.io("HOME", write=[222 * MB] * 3, clients=("near",))
    make.tcp("far", "s0", [165, 166], streams=1, direction="forward")
    for count, mbit in streams:
        make.tcp("near", "s0", [mbit, mbit + 1], streams=count, direction="forward")
    home = FileSystemFacts("HOME", "nfs", None, ("s0",))
    return make.evidence(home, paths={("far", "s0"): far, ("near", "s0"): near})


def test_a_client_on_the_lan_is_not_set_against_one_over_the_wan():
    evidence = lan_and_wan()
    assert sorted(table.clients for table in layers.table(evidence)) == [("far",), ("near",)]
    for draft in (*storage.overview(evidence), *workloads.overview(evidence), *layers.overview(evidence)):
        rates = {value for value in (draft.present, draft.predicted) if value}
        assert not {20.7 * MB, 222 * MB} <= rates
        assert draft.rule != "storage-connections"
    subjects = [(draft.rule, draft.subject) for draft in layers.overview(evidence)]
    assert len(subjects) == len(set(subjects))


def test_the_connections_of_one_client_tell_of_that_client():
    evidence = lan_and_wan(streams=((1, 1770),))
    more = Storing().tcp("far", "s0", [820, 821], streams=4, direction="forward")
    evidence = Evidence((*evidence.points, *more.points), paths=evidence.paths, file_systems=evidence.file_systems)
    (draft,) = [draft for draft in storage.overview(evidence) if draft.rule == "storage-connections"]
    assert draft.present == pytest.approx(20.7 * MB)
    assert draft.predicted == pytest.approx(820.5e6 / 8)


def test_a_gain_ends_at_the_next_limit():
    local = FileSystemFacts("LOCAL", "xfs", None, SERVERS[:1])
    single = FileSystemFacts("SCRATCH", "nfs", None, SERVERS[:1])
    evidence = evidence_of(60 * MB, clients=CLIENTS[:1], systems=(single, local), disk=900 * MB)
    (draft,) = [item for item in storage.overview(evidence) if item.rule == "storage-share-of-disk"]
    assert draft.predicted == pytest.approx(ONE, rel=0.02)


def shape_of(rates):
    (curve,) = curves(sweep("clients", rates).evidence(STRIPED), factor="clients")
    trend = trend_of(curve)
    return trend.shape if trend else None


@pytest.mark.parametrize(
    ("rates", "shape"),
    [
        # Two figures that nobody repeated, one outlier, one low last figure: what scatter makes.
        ({1: [320], 2: [410]}, None),
        ({1: [400], 2: [420], 4: [620], 8: [390]}, None),
        ({1: [100], 2: [200], 4: [400], 8: [385]}, shapes.UNCLEAR),
        ({1: [100], 2: [200], 4: [400], 8: [800]}, shapes.RISES),
        ({1: [100], 2: [200], 4: [201], 8: [199], 16: [202]}, shapes.SATURATES),
        # What three repetitions bear out, and what they do not.
        ({1: [100, 101, 99], 2: [93, 94, 92], 4: [88, 89, 87]}, shapes.FALLS),
        ({1: [100, 120, 85], 2: [110, 90, 88], 4: [92, 99, 80]}, None),
        ({1: [100, 101, 99], 2: [200, 202, 198], 4: [400, 380, 410], 8: [405, 440, 380]}, shapes.SATURATES),
    ],
)
def test_a_shape_is_told_only_as_the_repetitions_bear_it_out(rates, shape):
    assert shape_of(rates) == shape


def test_one_question_has_one_finding():
    evidence = sweep("clients", {1: [100] * 3, 2: [200] * 3, 4: [400] * 3}, threads=1).evidence(STRIPED)
    assert [draft.subject for draft in storage.overview(evidence) if draft.rule == "storage-clients"] == [
        "GPFS_PDAISY write"
    ]


def test_placement_measured_once_is_a_doubt():
    def placed(same, other):
        make = Storing()
        for name, values in (("same-socket", same), ("other-socket", other)):
            make.mpi("osu-bandwidth", {"bandwidth": values}, ("t1",), placement=name, message_size=2**20)
        return [draft for draft in mpi.overview(make.evidence()) if draft.rule == "mpi-affinity"]

    (draft,) = placed([5e9], [3.4e9])
    assert draft.kind == DOUBT
    assert draft.predicted is None
    (draft,) = placed([5e9, 5.01e9, 4.99e9], [3.4e9, 3.41e9, 3.39e9])
    assert (draft.kind, draft.is_comparison) == (DIAGNOSIS, True)


@pytest.mark.parametrize(
    ("rates", "clients", "low", "high"),
    [
        # In proportion so far: another limit may stand right above the last one, or none.
        ({1: 117.0, 2: 235.0, 3: 352.0, 4: 470.0}, 8, 0.75 * 470, 900.0),
        # Falling: it may go on to fall.
        ({1: 117.0, 2: 117.0, 3: 104.0, 4: 91.0, 6: 79.0}, 12, 50.0, 60.0),
    ],
)
def test_beyond_what_was_measured_a_limit_may_stand_that_has_not_shown(rates, clients, low, high):
    prediction = model.calibrate_any(
        [({"clients": count}, rate * MB, (1,)) for count, rate in rates.items()], {"clients": "integer"}
    ).predict({"clients": clients})
    assert prediction.low <= low * MB
    assert prediction.high >= high * MB


def test_no_share_is_above_all_and_nothing_recommended_below_what_there_is():
    """Whatever was measured: rates, streams, disks and links that contradict each other."""
    source, cases = random.Random(1), number_of(200)
    shares_seen = 0
    for _case in range(cases):
        servers = SERVERS[: source.choice((1, 2, 4))]
        kind = source.choice(("nfs", "lustre", "gpfs"))
        facts = FileSystemFacts(
            "SCRATCH", kind, source.choice((None, 2**20)), servers,
            disk_rates=source.choice(({}, {"write": 50 * MB}, {"write": 50 * MB, "read": 900 * MB})),
        )  # fmt: skip
        local = FileSystemFacts("LOCAL", "xfs", None, servers[:1])
        make, repetitions = Storing(), source.choice((1, 2, 3, 5))
        for count in source.sample((1, 2, 4), source.choice((1, 3))):
            rate = source.choice((5, 31, 118, 240, 900)) * MB
            make.point(
                "file-system",
                {m: [rate * source.gauss(1, 0.05) for _turn in range(repetitions)] for m in ("write", "read")},
                tool="iozone", file_system="SCRATCH", roles={"client": CLIENTS}, clients=count, file_size=2**36,
            )  # fmt: skip
        for streams in source.sample((1, 4, 16), source.choice((0, 1, 2))):
            make.tcp(CLIENTS[0], servers[0], source.choice((40, 250, 940, 9000)), streams=streams)
        if source.random() < 0.5:
            make.disk("LOCAL", servers[0], write=source.choice((30, 120, 800)) * MB, read=300 * MB)
        paths = star(servers=servers, port=source.choice((1e9, 1e10))) if source.random() < 0.8 else {}
        evidence = make.evidence(facts, local, paths=paths)
        for draft in itertools.chain(*(rules.overview(evidence) for rules in (layers, storage, workloads))):
            texts = [str(draft.title), *map(str, (*draft.why, *draft.against))]
            shares = [int(share) for text in texts for share in re.findall(r"(\d+) %", text)]
            assert all(share <= 100 for share in shares), texts
            if draft.predicted is not None and draft.present is not None:
                assert draft.predicted > draft.present, (draft.rule, draft.present, draft.predicted)
            assert draft.low is None or draft.low >= 0
            shares_seen += len(shares)
    assert shares_seen > 0.5 * cases
