"""A file system is set beside what is like it beneath: the same way, as many flows, the narrower of the layers."""

import itertools
import re

import pytest

from apps.bench.rules import folding, layers, storage
from apps.bench.rules.base import DISK, FILE_SYSTEM, FileSystemFacts
from apps.bench.rules.folding import LAYERS
from apps.bench.rules.layers.fullness import ROOM
from tests.bench.rules.storing import MB, Storing, wan

CLIENT, SERVER = "KGFS01", "PGFS01"
XFS = FileSystemFacts("LOCAL", "xfs", None, (SERVER,))
SCATTER = (0.99, 1.0, 1.01, 1.0)
ONE_WAY, BOTH = ("forward",), ("forward", "reverse")
# TCP's Mbit/s by streams.
FULL, BY_ONE = {1: 940, 4: 985}, {1: 200, 8: 985}


def world(rates, *, tcp=FULL, ways=BOTH, disk=300, kind="nfs", options=None):
    """Return evidence of a file system's rates (MB/s) by metric, over 1 Gbit/s, on disks of one server."""
    make = Storing()
    for way, (streams, mbit_s) in itertools.product(ways, tcp.items()):
        make.tcp(CLIENT, SERVER, [mbit_s * part for part in SCATTER], streams=streams, direction=way, window=0)
    for name, layer, node, own in (
        ("FS", FILE_SYSTEM, CLIENT, rates),
        ("LOCAL", DISK, SERVER, dict.fromkeys(rates, disk)),
    ):
        values = {metric: [value * part * MB for part in SCATTER] for metric, value in own.items()}
        make.point(layer, values, tool="iozone", file_system=name, roles={"client": (node,)}, threads=1)
    facts = FileSystemFacts("FS", kind, None, (SERVER,), options or {})
    return make.evidence(facts, XFS, paths={(CLIENT, SERVER): wan(CLIENT, SERVER)})


def drafts_of(evidence):
    """Return what stands on a page of the limits of the file system's rates, by rule."""
    drafts = folding.fold([*storage.overview(evidence), *layers.overview(evidence)])
    return [draft for draft in drafts if draft.rule in LAYERS]


def texts_of(draft):
    own = [draft, *draft.parts]
    return [str(line) for item in own for line in (item.title, *item.why, *item.against)]


def test_what_tcp_has_one_way_is_no_evidence_of_the_other():
    """Item 26: written data went where TCP was measured, read data came the other way."""
    evidence = world({"write": 112, "read": 24}, ways=ONE_WAY)
    tables = {table.metric: table for table in layers.table(evidence)}
    assert tables["write"].layer == "network"
    assert tables["read"].layer == ""
    (row,) = [row for row in tables["read"].rows if row.layer == "network"]
    assert row.is_stated
    assert not row.trials
    (proposal,) = [item for item in tables["read"].proposals if item.tool == "iperf3-tcp"]
    assert proposal.fixed["direction"] == "reverse"
    assert any("iperf3 -R" in str(line) for line in tables["read"].missing)
    (read,) = [draft for draft in drafts_of(evidence) if "read" in draft.subject]
    assert read.rule == "undecided-layer"


@pytest.mark.parametrize("kind", ["nfs", "gpfs", "lustre", "other"])
@pytest.mark.parametrize("rate", [5, 24, 60, 90, 112])
@pytest.mark.parametrize("metric", ["write", "read"])
def test_no_layer_is_told_by_tcp_the_other_way(metric, rate, kind):
    ways = ("reverse",) if metric == "write" else ("forward",)
    evidence = world({metric: rate}, ways=ways, kind=kind)
    other = {trial for point in evidence.points if point.tool == "iperf3-tcp" for trial in point.trials("goodput")}
    for draft in drafts_of(evidence):
        assert not other & {*draft.trials}
        assert draft.rule == "undecided-layer" or "network" in str(draft.title).lower()


def test_one_connection_is_set_beside_one_flow():
    """Item 27: one finding, which says what to do."""
    evidence = world({"write": 24.1, "read": 23.9}, tcp=BY_ONE)
    drafts = drafts_of(evidence)
    assert [draft.rule for draft in drafts] == ["storage-connections"] * len(drafts)
    lead = drafts[0]
    assert "open 8" in str(lead.title)
    assert "limiting-layer" in {part.rule for item in drafts for part in item.parts}
    lines = [line for draft in drafts for line in texts_of(draft)]
    assert not [line for line in lines if "itself is the limit" in line or "the disks and its own" in line]
    assert any("over as many flows as it opens (1): this is 96 %" in line for line in lines)
    (row,) = [row for table in layers.table(evidence)[:1] for row in table.rows if row.layer == "network"]
    assert row.is_limit
    assert row.value == pytest.approx(25 * MB)
    assert "over 8 it carries 123" in str(row.note)


@pytest.mark.parametrize("rate", [5, 12, 17, 20, 24, 25, 60, 112])
@pytest.mark.parametrize("options", [{}, {"nconnect": 8}])
def test_a_rate_is_a_share_of_as_many_flows_as_it_has(rate, options):
    evidence = world({"write": rate}, tcp=BY_ONE, options=options)
    (table,) = layers.table(evidence)
    (row,) = [row for row in table.rows if row.layer == "network"]
    is_of_one = rate <= 25 and not options
    assert row.value == pytest.approx((25 if is_of_one else 123.1) * MB, rel=0.01)
    assert (table.layer == "network") == ((is_of_one and rate >= 24) or rate >= 112)
    assert not [draft for draft in layers.overview(evidence) if draft.rule == "cache-effect"]


@pytest.mark.parametrize("disk", [30, 62, 100, 300])
@pytest.mark.parametrize("rate", [5, 24, 60, 75, 95, 112])
@pytest.mark.parametrize("metric", ["write", "read"])
def test_of_a_layer_of_which_little_is_used_nobody_says_that_it_is_the_limit(metric, rate, disk):
    """Item 28: the share is of the narrower of network and disks."""
    evidence = world({metric: rate}, disk=disk)
    carried = min(disk, 985 / 8)
    for draft in (item for lead in drafts_of(evidence) for item in (lead, *lead.parts)):
        title = str(draft.title)
        if draft.rule == "storage-share-of-disk":
            assert draft.value == pytest.approx(rate / carried, rel=0.01)
        if rate < ROOM * disk:
            assert not re.search(r"the disks (and|are the limit)", title)


def test_the_share_is_of_what_network_and_disks_let_through():
    (lead,) = drafts_of(world({"write": 60.2}))
    assert "itself is the limit" in str(lead.title)
    (part,) = lead.parts
    assert "reaches 48 - 50 % of what network and disks beneath it let through" in str(part.title)


@pytest.mark.parametrize("tcp", [FULL, BY_ONE])
@pytest.mark.parametrize("ways", [ONE_WAY, BOTH])
@pytest.mark.parametrize("disk", [30, 62, 300])
@pytest.mark.parametrize("rate", [5, 24, 60, 112])
def test_one_finding_leads_for_each_way(rate, disk, ways, tcp):
    drafts = drafts_of(world({"write": rate, "read": rate}, disk=disk, ways=ways, tcp=tcp))
    subjects = [draft.subject for draft in drafts]
    assert len(subjects) == len({*subjects})
    # Advice of both ways is one question of the file system: its other way is a part.
    assert len(drafts) <= 2


SECOND = "KGFS02"


def of_two(rate, *, streams=((1, 8), (1, 8)), options=None, servers=(SERVER,), kind="nfs", one=200):
    """Return evidence of what two clients wrote together (MB/s each), with TCP of each over these streams."""
    make, clients = Storing(), (CLIENT, SECOND)
    for client, counts in zip(clients, streams, strict=True):
        for count in counts:
            make.tcp(client, SERVER, [min(count * one, 985) * part for part in SCATTER], streams=count, window=0)
    for name, layer, nodes, value in (("FS", FILE_SYSTEM, clients, 2 * rate), ("LOCAL", DISK, (SERVER,), 300)):
        values = {"write": [value * part * MB for part in SCATTER]}
        make.point(layer, values, tool="iozone", file_system=name, roles={"client": nodes}, threads=1)
    facts = FileSystemFacts("FS", kind, None, servers, options or {})
    paths = {(client, server): wan(client, server) for client in clients for server in servers}
    return make.evidence(facts, XFS, paths=paths)


def limit_of(evidence):
    (table,) = layers.table(evidence)
    return table.layer, [row for row in table.rows if row.layer == "network"]


def test_the_connections_of_several_clients_are_set_beside_as_many_flows():
    """Each of two clients moves what one TCP stream does, and their way has room for four times that."""
    layer, (row,) = limit_of(of_two(24.5))
    assert (layer, row.value) == ("network", pytest.approx(50 * MB, rel=0.01))
    assert "as many flows as the file system opens (2)" in str(row.note)
    # Two connections each carry twice that: they are not what holds it.
    assert limit_of(of_two(24.5, streams=((1, 2, 8), (1, 2, 8)), options={"nconnect": 2}))[0] == "file-system"
    assert limit_of(of_two(49, streams=((1, 2, 8), (1, 2, 8)), options={"nconnect": 2}))[0] == "network"


@pytest.mark.parametrize(
    ("streams", "more"),
    [
        (((8,), (8,)), {}),
        (((1, 8), (8,)), {}),
        (((8,), (8,)), {"servers": (SERVER, "PGFS02")}),
        (((8,), (8,)), {"servers": (SERVER, "PGFS02"), "kind": "gpfs"}),
    ],
)
def test_what_nobody_measured_over_as_many_flows_blames_no_file_system(streams, more):
    assert limit_of(of_two(24.5, streams=streams, **more))[0] == ""


def test_a_rate_below_each_streams_share_of_the_path_needs_no_measurement_of_one():
    """One of eight streams that fill the path has an eighth of it at least by itself."""
    assert limit_of(of_two(5, streams=((8,), (8,))))[0] == "file-system"
