"""Which layer limits a file system: the published cases, and the same with evidence taken away or turned round."""

import dataclasses
import json

import pytest

from apps.bench import rules
from apps.bench.rules import layers, runner
from apps.bench.rules.base import AT_LEAST, DOUBT, FileSystemFacts, LinkFacts, PathFacts
from tests.bench.rules.storing import (
    CLIENTS,
    GPFS,
    MB,
    NFS,
    RAID1,
    SAN,
    Storing,
    polarised,
    wan,
)

ONE, FOUR = (f"(write, record_size = 256 KiB, clients = {count})" for count in (1, 4))


def limiting(evidence):
    """Return {subject's beginning: draft} of the rule."""
    drafts = [draft for draft in layers.overview(evidence) if draft.rule == "limiting-layer"]
    return {" ".join(draft.subject.split()[:2]): draft for draft in drafts}


def table_of(evidence, name, metric="write"):
    (table,) = [item for item in layers.table(evidence) if (item.file_system, item.metric) == (name, metric)]
    return table


def test_polarised_writes_are_a_fault_inside_the_parallel_file_system():
    evidence = polarised()
    draft = limiting(evidence)["GPFS_PDAISY write"]
    assert str(draft.title).startswith(f"The fault is inside GPFS_PDAISY {ONE}: at times it gives only 13.00 MB/s")
    assert draft.confidence_label == "high"
    lines = [str(line) for line in draft.why]
    assert "The network alone carries 122.5 MB/s: this is 11 % of it." in lines
    assert "The disks alone give 264.0 MB/s: this is 5 % of it." in lines
    assert any("13.00 MB/s at times and 80.00 MB/s at others" in line for line in lines)
    assert any("NFS_PGFS01 over the same path gives 26.00 MB/s, ×2.00" in line for line in lines)
    assert any("36.00 MB/s of NFS_PGFS01 is more than its disks gave alone" in str(line) for line in draft.against)
    assert (draft.tried, draft.predicted) == (13 * MB, 122.5 * MB)
    assert set(draft.evidence) >= {1, 2, 3, 5}


def test_the_arithmetic_of_the_slow_mode_is_told_beside_the_verdict_with_what_would_decide():
    first, second, *others = limiting(polarised())["GPFS_PDAISY write"].alternatives
    assert str(first.title).startswith("One unscaled 64 KiB window: 13 MiB/s · 4.80 ms = 65,431 B")
    assert first.proposal.factors == {"threads": "1, 2, 4, 8, 12"}
    assert first.proposal.file_system == "GPFS_PDAISY"
    assert "4 round trips for each block of 256 KiB" in str(second.title)
    assert "4.01 RTT" in str(second.title)
    assert second.proposal.factors["record_size"] == "256 KiB, 512 KiB, 1 MiB, 2 MiB"
    assert all(str(item.test) for item in (first, second, *others))
    assert any("Loss" in str(item.title) for item in others)


def test_a_slow_mode_of_another_size_has_no_such_signature():
    titles = [str(item.title) for item in limiting(polarised(low=15 * MB))["GPFS_PDAISY write"].alternatives]
    assert not any("64 KiB window" in title or "round trips" in title for title in titles)


@pytest.mark.parametrize("without", [{"network": None}, {"disk": None}])
def test_without_a_layer_the_fault_is_not_placed(without):
    evidence = polarised(**without)
    if "network" in without:
        evidence = dataclasses.replace(evidence, paths={})
    assert "GPFS_PDAISY write" not in limiting(evidence)
    table = table_of(evidence, "GPFS_PDAISY")
    assert table.layer == ""
    assert str(table.verdict).startswith("Not decided")
    gap = "network alone" if "network" in without else "disks alone"
    assert any(gap in str(line) for line in table.missing)
    assert {"network": "iperf3-tcp", "disk": "iozone"}[next(iter(without))] in [item.tool for item in table.proposals]


@pytest.mark.parametrize(
    ("turned", "layer"),
    [
        # TCP alone that moves no more than the slow mode may be the limit, or be held by its window.
        ({"network": (105, 105)}, ""),
        ({"disk": 14 * MB}, ""),
        ({"nfs": 13 * MB, "hexa": None}, ""),
    ],
    ids=["slow network", "slow disk", "slow NFS"],
)
def test_turned_round_the_evidence_places_the_limit_elsewhere(turned, layer):
    table = table_of(polarised(**turned), "GPFS_PDAISY")
    assert table.layer == layer
    draft = limiting(polarised(**turned)).get("GPFS_PDAISY write")
    assert draft is None if not layer else "fault" not in str(draft.title)


def test_without_another_file_system_it_is_the_limit_but_no_fault_is_said_to_be_inside():
    draft = limiting(polarised(nfs=None, hexa=None))["GPFS_PDAISY write"]
    assert "fault" not in str(draft.title)
    assert draft.confidence < limiting(polarised())["GPFS_PDAISY write"].confidence
    assert any("Another file system over the same path" in str(line) for line in draft.missing)


def test_two_modes_in_eight_repetitions_are_found_where_they_were_measured():
    make = Storing().io(
        "GPFS_PDAISY", write=[13 * MB, 80 * MB, 13.2 * MB, 79 * MB, 12.9 * MB, 81 * MB, 13 * MB, 80 * MB]
    )
    make.tcp("KGFS01", "PGFS01", [980, 981]).disk("SAN", "PGFS01", write=264 * MB)
    make.io("NFS_PGFS01", write=[26 * MB, 26 * MB])
    draft = limiting(make.evidence(GPFS, SAN, NFS))["GPFS_PDAISY write"]
    assert "13.0" in str(draft.title)
    assert draft.title.msgid.startswith("The fault is inside")


def test_the_wan_is_full_so_that_faster_disks_gain_nothing():
    x4500 = FileSystemFacts("GPFS_X4500", "gpfs", None, ("X4500",), disk_rates={"write": 800 * MB, "read": 800 * MB})
    make = Storing().io("GPFS_X4500", write=[115 * MB] * 3, read=[115 * MB] * 3, clients=CLIENTS)
    drafts = limiting(make.evidence(x4500))
    for metric in ("write", "read"):
        draft = drafts[f"GPFS_X4500 {metric}"]
        assert "The network is the limit" in str(draft.title)
        assert any("Faster disks, or more of them, would gain nothing." in str(line) for line in draft.why)
        assert "X / X_net = 115.0 MB/s / 123.8 MB/s = 0.93" in draft.formula
    # A link of ten times the rate carries the same 115 MB/s and is not full.
    wan10 = PathFacts(1e10, 0.0048, 9000, (LinkFacts("wan", 1e10),), "wan")
    wide = {(client, "X4500"): wan10 for client in CLIENTS}
    assert "itself is the limit" in limiting(make.evidence(x4500, paths=wide))["GPFS_X4500 write"].title.msgid
    assert limiting(make.evidence(dataclasses.replace(x4500, disk_rates={}), paths={})) == {}


def lan(*, gpfs=300 * MB, ext3=500 * MB, tasks=1):
    """Return the X4500 on its LAN: clients of 1 Gbit/s each, four links of the server bonded."""
    x4500 = FileSystemFacts(
        "GPFS_X4500", "gpfs", None, ("X4500",), disks=8, disk_rates={"write": 800 * MB, "read": 800 * MB}
    )
    local = FileSystemFacts("ext3", "ext", None, ("X4500",))
    trunk = LinkFacts("X4500 - switch", 4e9, 0.0001, 9000)
    paths = {
        (client, "X4500"): PathFacts(
            1e9, 0.0001, 9000, (LinkFacts(f"{client} - switch", 1e9), trunk), f"{client} - switch"
        )
        for client in CLIENTS
    }
    make = Storing().io("GPFS_X4500", write=[gpfs] * 3, clients=CLIENTS)
    if ext3:
        make.disk("ext3", "X4500", write=ext3)
        make.points[-1].parameters["threads"] = tasks
    return make.evidence(x4500, local, paths=paths)


def test_on_the_lan_the_file_system_is_the_limit_as_four_links_carry_more():
    draft = limiting(lan())["GPFS_X4500 write"]
    assert str(draft.title).startswith(f"GPFS_X4500 {FOUR} itself is the limit, if what lies beneath gives what it")
    assert "X / X_net = 300.0 MB/s / 495.0 MB/s = 0.61; X / B_disk = 300.0 MB/s / 500.0 MB/s = 0.60" in draft.formula
    nearly = limiting(lan(gpfs=430 * MB, ext3=450 * MB, tasks=4))["GPFS_X4500 write"]
    assert "The disks are the limit" in str(nearly.title)
    assert any("nearly as full (87 %)" in str(line) for line in nearly.against)


def test_nfs_writes_at_the_rate_of_its_disk_and_reads_at_neither():
    make = Storing().io("NFS_PGFS01", write=[28 * MB] * 3, read=[70 * MB] * 3)
    drafts = limiting(make.disk("RAID1", "PGFS01", write=30 * MB, read=110 * MB).evidence(NFS, RAID1))
    assert f"The disks are the limit of NFS_PGFS01 {ONE}: 28.00 MB/s is 93 %" in str(drafts["NFS_PGFS01 write"].title)
    assert any("A faster network would gain nothing." in str(line) for line in drafts["NFS_PGFS01 write"].why)
    assert drafts["NFS_PGFS01 read"].title.msgid.startswith("%(name)s (%(way)s) itself")


def test_a_rate_above_its_disk_is_doubted_and_no_limit_is_named_by_it():
    make = Storing().io("NFS_PGFS01", clients=("HEXA01",), write=36 * MB).disk("RAID1", "PGFS01", write=30 * MB)
    drafts = layers.overview(make.evidence(NFS, RAID1, clients=("HEXA01",)))
    assert [(draft.rule, draft.kind) for draft in drafts] == [("cache-effect", DOUBT)]
    # What a cache gave and what disks gave at another time look alike.
    assert str(drafts[0].title).startswith(
        "36.00 MB/s of NFS_PGFS01 is more than the layers beneath gave alone: of a"
    )
    assert [str(line) for line in drafts[0].missing] == [
        "The disks alone once more, on the servers (PGFS01), right after the file system and for as long as that was"
        " measured."
    ]
    assert any("×1.20" in str(line) for line in drafts[0].why)
    believed = Storing().io("NFS_PGFS01", clients=("HEXA01",), write=29 * MB).disk("RAID1", "PGFS01", write=30 * MB)
    assert "cache-effect" not in [draft.rule for draft in layers.overview(believed.evidence(NFS, RAID1))]


def test_clients_on_the_lan_and_over_the_wan_are_questions_of_their_own():
    make = (
        Storing()
        .io("GPFS_PDAISY", write=[115 * MB] * 3, clients=CLIENTS)
        .io("GPFS_PDAISY", write=[230 * MB] * 3, clients=("PGFS05",))
    )
    near = PathFacts(2e9, 0.0001, 9000, (LinkFacts("PGFS05 - switch", 2e9),), "PGFS05 - switch")
    paths = {(client, server): wan(client, server) for client in CLIENTS for server in GPFS.servers}
    paths |= {("PGFS05", server): near for server in GPFS.servers}
    tables = layers.table(make.disk("SAN", "PGFS01", write=264 * MB).evidence(GPFS, SAN, paths=paths))
    assert [(item.clients, item.layer) for item in tables] == [(CLIENTS, "network"), (("PGFS05",), "network")]


def test_a_rate_reached_at_least_is_ruled_no_limit():
    make = Storing().io("GPFS_PDAISY", read=50 * MB, statistic=AT_LEAST).disk("SAN", "PGFS01", read=354 * MB)
    assert table_of(make.evidence(GPFS, SAN), "GPFS_PDAISY", "read").layer == ""


def test_one_flow_alone_does_not_show_that_many_fill_the_network():
    make = Storing().io("GPFS_PDAISY", write=115 * MB, clients=CLIENTS).tcp("KGFS01", "PGFS01", 950)
    evidence = make.disk("SAN", "PGFS01", write=264 * MB).evidence(GPFS, SAN, paths={})
    table = table_of(evidence, "GPFS_PDAISY")
    assert table.layer == ""
    assert any("as many flows" in str(line) for line in table.missing)


def test_the_table_shows_the_layers_with_the_share_of_the_file_system_in_question():
    table = table_of(polarised(), "GPFS_PDAISY")
    assert [(row.layer, row.subject) for row in table.rows] == [
        ("network", "KGFS01 - PGFS01"),
        ("disk", "SAN"),
        ("file-system", "NFS_PGFS01"),
        ("file-system", "NFS_PGFS01"),
        ("file-system", "GPFS_PDAISY"),
        ("file-system", "GPFS_PDAISY"),
    ]
    assert table.rows[0].ratio == pytest.approx(13 / 122.5)
    assert [row.is_limit for row in table.rows] == [False] * 5 + [True]
    assert table.rows[-1].is_question
    assert "cache" in str(next(row.note for row in table.rows if row.value == 36 * MB))
    assert table.layer == "file-system"
    assert len(table.alternatives) == 3


def test_findings_of_the_layers_can_be_stored():
    for draft in layers.overview(polarised()):
        document = json.loads(json.dumps(draft.as_json(), allow_nan=False))
        assert 0 < draft.confidence <= 0.95
        assert len(draft.subject) <= 200
        for message in (document["title"], *document["why"], *document["missing"], *document["against"]):
            assert message["msgid"] % message["params"]


def test_no_evidence_is_no_verdict():
    assert layers.table(Storing().evidence()) == ()
    assert runner.drafts_of(rules.ask_whole(Storing().evidence())) == []


def test_what_is_proposed_can_be_set_up():
    """Every role of what is proposed has nodes, and the file system is one that is described."""
    systems = {"GPFS_PDAISY", "SAN", "NFS_PGFS01", "RAID1"}
    for table in layers.table(polarised(network=None, disk=None)):
        proposals = [*table.proposals, *(item.proposal for item in table.alternatives if item.proposal)]
        assert proposals
        for proposal in proposals:
            assert all(proposal.roles.values())
            assert proposal.tool == "iperf3-tcp" or proposal.file_system in systems


def test_of_two_layers_as_full_as_each_other_none_is_named():
    def both_at(disk):
        make = Storing().tcp("KGFS01", "PGFS01", [980, 981, 979], streams=5, direction="forward")
        make.disk("RAID1", "PGFS01", write=[disk * MB, (disk + 1) * MB, disk * MB])
        make.points[-1] = dataclasses.replace(make.points[-1], warnings=frozenset({"processor-full"}))
        return make.io("NFS_PGFS01", write=[115 * MB, 116 * MB, 115 * MB]).evidence(NFS, RAID1)

    def under(disk, mbit):
        make = Storing().tcp("KGFS01", "PGFS01", [mbit, mbit + 1, mbit - 1], streams=5, direction="forward")
        make.disk("RAID1", "PGFS01", write=[disk * MB, (disk + 1) * MB, disk * MB])
        make.io("NFS_PGFS01", write=[115 * MB, 116 * MB, 115 * MB])
        return table_of(make.evidence(NFS, RAID1), "NFS_PGFS01")

    assert under(400, 980).layer == "network"
    tie = under(124, 980)
    assert tie.layer == ""
    assert str(tie.verdict).startswith(f"Not decided: 115.3 MB/s of NFS_PGFS01 {ONE} is nearly all that the network")
    # Nor where a judge saw an end at its limit while the disks were measured: they may give more, or no more.
    assert table_of(both_at(124), "NFS_PGFS01").layer == ""
