"""Record sizes, clients, and shares of the disk: the published cases, and against them."""

import dataclasses
import json
import statistics

import pytest

from apps.bench.rules import storage
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, FileSystemFacts, LinkFacts, PathFacts, Ratio, Trend
from apps.bench.statistics.leaning import FEW
from tests.bench.rules.storing import CLIENTS, GPFS, MB, NFS, RAID1, Storing, concluded, sweep, the, wan

KIB, MIB = 1024, 1024**2
X4500 = FileSystemFacts(
    "GPFS_X4500", "gpfs", None, ("X4500",), disks=8, disk_rates={"write": 800 * MB, "read": 800 * MB}
)
TRUNK = LinkFacts("X4500 - switch", 4e9, 0.0001, 9000)
LAN = {
    (client, "X4500"): PathFacts(
        1e9, 0.0001, 9000, (LinkFacts(f"{client} - switch", 1e9), TRUNK), f"{client} - switch"
    )
    for client in CLIENTS
}


# Record size


def test_large_sequential_files_do_not_mind_the_record_size():
    trend = Trend("iozone", "write", "record_size", "flat", best=115 * MB, file_system="GPFS_X4500")
    draft = the(Storing().evidence(X4500, trends=(trend,)), "storage-record-size")
    assert draft.kind == NO_CHANGE
    assert str(draft.title) == "The record size has no effect on GPFS_X4500 (write): keep the file system's block"
    assert "115.0 MB/s" in str(draft.why[0])
    assert draft.change == ""


def test_a_measured_sweep_says_the_same_and_is_believed_more():
    rates = {64 * KIB: [115, 116], 256 * KIB: [114, 116], MIB: [115, 115], 4 * MIB: [116, 114]}
    draft = the(sweep("record_size", rates).evidence(GPFS), "storage-record-size")
    assert draft.kind == NO_CHANGE
    assert draft.confidence_label == "high"
    assert "From 64 KiB to 4 MiB" in str(draft.why[1])
    assert draft.evidence == tuple(range(1, 9))


def test_records_that_wait_for_each_round_trip_are_better_large():
    # GlusterFS over the WAN, direct reads: block / (RTT + block / C).
    rates = {64 * KIB: [11.1], 256 * KIB: [33.8], MIB: [68.4], 4 * MIB: [99.2]}
    draft = the(sweep("record_size", rates, metric="read").evidence(GPFS), "storage-record-size")
    assert (draft.kind, draft.is_comparison) == ("diagnosis", True)
    assert draft.change == "iozone -r 4194304"
    assert (draft.tried, draft.predicted) == (pytest.approx(11.1 * MB), pytest.approx(99.2 * MB))
    assert any("Each record waits 5." in str(line) for line in draft.why)
    assert (draft.proof.now["record_size"], draft.proof.then["record_size"]) == (64 * KIB, 4 * MIB)
    assert draft.proposals[0].factors == {"record_size": "4194304, 8388608, 16777216"}


@pytest.mark.parametrize(
    "rates",
    [{256 * KIB: [100], 512 * KIB: [101]}, {64 * KIB: [100, 40], MIB: [50, 110], 4 * MIB: [80, 20]}, {MIB: [100]}],
    ids=["too narrow", "scattered", "one size"],
)
def test_a_sweep_that_shows_nothing_gives_nothing(rates):
    assert concluded(sweep("record_size", rates).evidence(GPFS), "storage-record-size") == {}


def test_a_record_size_that_matters_contradicts_the_printed_case():
    draft = the(
        sweep("record_size", {256 * KIB: [60], MIB: [115], 4 * MIB: [116]}).evidence(GPFS), "storage-record-size"
    )
    assert draft.kind != NO_CHANGE
    assert draft.value == MIB


# Clients


def test_the_lan_saturates_at_three_writers_and_two_readers_though_the_network_has_room():
    trends = [
        Trend("iozone", metric, "clients", "saturates", knee=knee, file_system="GPFS_X4500")
        for metric, knee in (("write", 3), ("read", 2))
    ]
    drafts = concluded(Storing().evidence(X4500, paths=LAN, trends=tuple(trends)), "storage-clients")
    assert [draft.value for draft in drafts.values()] == [3, 2]
    write = drafts["GPFS_X4500 write"]
    assert str(write.title) == "GPFS_X4500 saturates at 3 clients (write): more add nothing"
    assert "371.3 MB/s for 3 clients and 495.0 MB/s for one more" in str(write.why[0])
    assert write.kind == DIAGNOSIS


def test_a_measured_sweep_of_clients_has_its_knee():
    rates = {1: [112, 113], 2: [224, 226], 3: [300, 301], 4: [301, 299]}
    draft = the(sweep("clients", rates, file_system="GPFS_X4500").evidence(X4500, paths=LAN), "storage-clients")
    assert draft.value == 3
    assert "1: 112.5 MB/s" in str(draft.why[0])


def test_a_full_network_is_named_as_the_reason_of_the_plateau():
    draft = the(sweep("clients", {1: [60], 2: [115], 3: [116], 4: [115]}).evidence(GPFS), "storage-clients")
    # Which layer it is the others do not say, on the same page.
    assert any("it may be what is full" in str(line) for line in draft.why)


def test_nfs_falls_with_clients_so_that_many_nodes_need_a_parallel_file_system():
    trend = Trend("iozone", "write", "clients", "falls", best=28 * MB, file_system="NFS_PGFS01")
    draft = the(Storing().evidence(NFS, trends=(trend,)), "storage-clients")
    assert "for many nodes take a parallel file system" in str(draft.title)
    measurements = sweep("clients", {1: [28], 2: [25], 3: [21], 4: [18]}, file_system="NFS_PGFS01").evidence(NFS)
    assert "parallel file system" in str(the(measurements, "storage-clients").title)
    parallel = sweep("clients", {1: [28], 2: [25], 3: [21], 4: [18]}).evidence(GPFS)
    assert "in each other's way" in str(the(parallel, "storage-clients").title)


def test_nfs_that_grows_with_clients_needs_nthe():
    measurements = sweep("clients", {1: [28], 2: [56], 3: [84], 4: [112]}, file_system="NFS_PGFS01").evidence(NFS)
    assert "parallel file system" not in str(the(measurements, "storage-clients").title)
    assert concluded(Storing().evidence(NFS), "storage-clients") == {}


def test_writing_grows_with_tasks_to_nearly_the_links_capacity():
    trend = Trend("iozone", "write", "threads", "rises", best=101 * MB, file_system="GPFS_PDAISY")
    make = Storing().point(
        "file-system",
        {"write": 101 * MB},
        tool="iozone",
        file_system="GPFS_PDAISY",
        roles={"client": CLIENTS[:1]},
        threads=9,
    )
    draft = the(make.evidence(GPFS, trends=(trend,)), "storage-clients")
    assert str(draft.title) == "GPFS_PDAISY grows with the tasks (write): let many do I/O at once"
    reasons = " ".join(map(str, draft.why))
    assert (
        "101.0 MB/s is 82 % of the 123.8 MB/s that the network carries; at 11.22 MB/s each it takes 12 or more"
        in reasons
    )
    # It is one client's threads that were varied: that says nothing of many nodes.
    assert "nodes" not in reasons
    flat = dataclasses.replace(trend, shape="flat")
    assert "one fills it" in str(the(make.evidence(GPFS, trends=(flat,)), "storage-clients").title)


def test_growth_with_threads_can_be_proved_and_is_followed_up():
    draft = the(
        sweep("threads", {1: [13], 3: [38], 6: [76], 9: [101]}, clients=CLIENTS[:1]).evidence(GPFS), "storage-clients"
    )
    assert draft.value == 9
    assert (draft.proof.now["threads"], draft.proof.then["threads"]) == (1, 9)
    assert draft.proposals[0].factors == {"threads": "1, 2, 4, 8, 12, 16"}
    assert draft.proposals[0].roles == {"client": ("KGFS01",)}


# Shares of the disk


def test_nfs_reaches_sixty_to_seventy_per_cent_of_ext3():
    ratio = Ratio("iozone", "write", {"file_system": "NFS_PGFS01"}, {"file_system": "ext3"}, 0.60, 0.70)
    draft = the(Storing().evidence(NFS, ratios=(ratio,)), "storage-share-of-disk")
    assert str(draft.title).startswith("NFS_PGFS01 reaches 60 - 70 % of ext3 beneath it (write)")
    assert str(draft.title).endswith("it takes the rest itself, and the disks may be a limit, too")
    assert (draft.low, draft.high) == (0.60, 0.70)
    swapped = dataclasses.replace(ratio, of=ratio.to, to=ratio.of, low=1 / 0.7, high=1 / 0.6)
    assert the(Storing().evidence(NFS, ratios=(swapped,)), "storage-share-of-disk").low == pytest.approx(0.6)


def test_gpfs_costs_forty_per_cent_of_ext3_and_cannot_fill_four_links():
    ext3 = FileSystemFacts("ext3", "ext", None, ("X4500",))
    ratio = Ratio("iozone", "write", {"file_system": "GPFS_X4500"}, {"file_system": "ext3"}, 0.60, 0.60)
    make = Storing().disk("ext3", "X4500", write=500 * MB)
    draft = the(make.evidence(X4500, ext3, paths=LAN, ratios=(ratio,)), "storage-share-of-disk")
    assert "GPFS_X4500 reaches 60 % of ext3" in str(draft.title)
    assert str(draft.title).endswith("the disks are not its limit")
    assert any("300.0 MB/s of the disks' 500.0 MB/s; the network would carry 495.0 MB/s" in str(x) for x in draft.why)
    # Over the WAN the same share is the network's doing.
    path = {(client, "X4500"): wan(client, "X4500") for client in CLIENTS}
    assert concluded(make.evidence(X4500, ext3, paths=path, ratios=(ratio,)), "storage-share-of-disk") == {}
    near = dataclasses.replace(ratio, low=0.95, high=0.95)
    assert the(Storing().evidence(X4500, ext3, paths={}, ratios=(near,)), "storage-share-of-disk").kind == NO_CHANGE


def test_a_measured_share_needs_a_network_with_room():
    def evidence_at(write):
        make = (
            Storing()
            .io("NFS_PGFS01", write=[write * MB, write * MB])
            .disk("RAID1", "PGFS01", write=[100 * MB, 100 * MB])
        )
        return make.evidence(NFS, RAID1)

    assert the(evidence_at(64), "storage-share-of-disk").value == pytest.approx(0.64)
    assert concluded(dataclasses.replace(evidence_at(64), paths={}), "storage-share-of-disk") == {}
    assert concluded(evidence_at(110), "storage-share-of-disk") == {}


# Kinds of clients


def test_two_very_different_kinds_of_client_see_the_same_rates():
    def evidence_at(write):
        make = Storing().io("KIGFS", clients=("PGFS01", "PGFS02"), write=[80 * MB] * 2, read=[105 * MB] * 2)
        make.io("KIGFS", clients=("PDAISY00", "PDAISY01", "PDAISY02"), write=[write] * 2, read=[105 * MB] * 2)
        return make.evidence(FileSystemFacts("KIGFS", "gpfs", 262144, ("KIGFS01",)), paths={})

    draft = the(evidence_at(80 * MB), "storage-clients-alike")
    assert draft.kind == NO_CHANGE
    assert "PDAISY00 - PDAISY02 and PGFS01 - PGFS02 see the same rates of KIGFS" in str(draft.title)
    assert concluded(evidence_at(40 * MB), "storage-clients-alike") == {}


def test_all_findings_can_be_stored():
    make = sweep("record_size", {64 * KIB: [20], MIB: [60], 4 * MIB: [90]})
    make.points += sweep("clients", {1: [28] * 3, 2: [25] * 3, 3: [21] * 3}, file_system="NFS_PGFS01").points
    drafts = storage.overview(make.evidence(GPFS, NFS))
    assert len(drafts) > 1
    for draft in drafts:
        document = json.loads(json.dumps(draft.as_json(), allow_nan=False))
        for message in (document["title"], *document["why"], *document["limits"], *document["missing"]):
            assert message["msgid"] % message["params"]
        assert len(draft.rule) <= 50
        assert len(draft.unit) <= 10
        assert 0 < draft.confidence <= 0.95


def test_reading_and_writing_in_one_trial_are_judged_each_by_itself():
    make = Storing()
    for size, write, read in ((64 * KIB, 20, 115), (256 * KIB, 60, 116), (4 * MIB, 90, 114)):
        make.point(
            "file-system",
            {"write": [write * MB, write * MB], "read": [read * MB, read * MB]},
            tool="iozone",
            file_system="GPFS_PDAISY",
            roles={"client": CLIENTS},
            file_size=4 * 1024**3,
            record_size=size,
        )
    drafts = concluded(make.evidence(GPFS), "storage-record-size")
    assert drafts["GPFS_PDAISY write"].value == 4 * MIB
    assert drafts["GPFS_PDAISY read"].kind == NO_CHANGE
    assert len(drafts["GPFS_PDAISY read"].why) == 2


@pytest.mark.parametrize("other", [1.17, 3.0])
def test_a_share_of_two_repetitions_that_differ_is_not_told(other):
    make = Storing().tcp("KGFS01", "PGFS01", [900, 910])
    make.disk("RAID1", "PGFS01", write=[90 * MB, 91 * MB])
    make.io("NFS_PGFS01", write=[20 * MB, other * 20 * MB])
    draft = the(make.evidence(NFS, RAID1), "storage-share-of-disk")
    assert (draft.kind, draft.low, draft.high) == ("doubt", None, None)
    assert str(draft.title).startswith("Not enough to tell which share")
    assert str(draft.missing[0]) == "More repetitions of NFS_PGFS01 and of RAID1, five or more of each."


def test_the_share_has_the_errors_of_both_rates():
    make = Storing().tcp("KGFS01", "PGFS01", [900, 910])
    make.disk("RAID1", "PGFS01", write=[90 * MB, 91 * MB, 92 * MB])
    make.io("NFS_PGFS01", write=[45 * MB, 46 * MB, 47 * MB])
    draft = the(make.evidence(NFS, RAID1), "storage-share-of-disk")
    share = statistics.harmonic_mean([45, 46, 47]) / statistics.harmonic_mean([90, 91, 92])
    assert draft.value == pytest.approx(share)
    # 4.303 standard errors of the mean of three, and what their lean may hide, of each rate, in quadrature.
    error = FEW[3] * 4.303 / 3**0.5 * ((1 / 46) ** 2 + (1 / 91) ** 2) ** 0.5
    assert draft.low == pytest.approx(share * (1 - error), rel=1e-2)
    assert draft.high == pytest.approx(share * (1 + error), rel=1e-2)


def test_the_share_of_rates_measured_once_is_as_uncertain_as_such_rates_are():
    make = Storing().tcp("KGFS01", "PGFS01", [900, 910])
    make.disk("RAID1", "PGFS01", write=90 * MB).io("NFS_PGFS01", write=46 * MB)
    draft = the(make.evidence(NFS, RAID1), "storage-share-of-disk")
    assert draft.low <= draft.value * 0.75
    assert draft.high >= draft.value * 1.25


def _of_records(top_rate):
    make = Storing()
    for size, speed in ((65536, 20), (MIB, top_rate)):
        rates = {"write": [speed * MB, (speed + 0.5) * MB, speed * MB]}
        own = {"record_size": size, "clients": 1, "threads": 1}
        make.point("file-system", rates, file_system="NFS_PGFS01", roles={"client": CLIENTS[:1]}, **own)
    return the(make.evidence(NFS), "storage-record-size")


def test_what_fills_the_network_is_not_still_growing():
    draft = _of_records(118)
    assert str(draft.title).startswith(
        "Records of 1 MiB give NFS_PGFS01 its rate (write, clients = 1, threads = 1): 118.2 MB/s"
    )
    assert not draft.missing
    assert str(_of_records(60).title).startswith("Of the two record sizes tried 1 MiB is the faster")


def test_one_client_that_has_nearly_all_is_not_called_poorly_served():
    for one, poor in ((106, False), (30, True)):
        make = sweep("clients", {1: [one, one + 1, one], 2: [121, 122, 121]}, threads=1)
        (draft,) = [item for item in storage.overview(make.evidence(GPFS)) if item.rule == "storage-clients"]
        assert any("poorly those in which few do" in str(line) for line in draft.why) is poor
        assert bool(draft.proposals) is not (121 >= 0.95 * 123.8)
