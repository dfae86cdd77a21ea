"""Which configuration serves a described workload, what it will get, and for whom a file system is fit."""

import json
import statistics

import pytest

from apps.bench.rules import workloads
from apps.bench.rules.base import FileSystemFacts, Trend
from apps.bench.rules.workloads import Workload
from tests.bench.rules.storing import CLIENTS, GIB, GPFS, MB, NFS, Storing, sweep

KIB, MIB = 1024, 1024**2
ONE = Workload("write", 4 * GIB)
RATES = {1: [13, 13.2], 2: [26, 26.4], 4: [52, 52.8]}


def fits(evidence, workload):
    return {item.file_system: item for item in workloads.fit(evidence, workload)}


def gpfs(rates=RATES, **more):
    return sweep("clients", rates, threads=1, **more).evidence(GPFS)


# What it will get


def test_what_was_measured_is_what_it_gets():
    fit = fits(gpfs(), Workload("write", 4 * GIB, nodes=2, total=260 * 1e9, wanted=20 * MB))["GPFS_PDAISY"]
    assert fit.basis == "measured"
    assert fit.rate == pytest.approx(26.2 * MB, rel=1e-3)
    assert fit.low < fit.rate < fit.high
    assert fit.each == pytest.approx(13.1 * MB, rel=1e-3)
    assert fit.seconds == pytest.approx(260e9 / 26.2e6, rel=1e-3)
    assert fit.serves is True
    assert fit.trials == (3, 4)
    assert fit.proposal.roles == {"client": ("KGFS01", "KGFS02")}
    assert fits(gpfs(), Workload("write", 4 * GIB, nodes=2, wanted=90 * MB))["GPFS_PDAISY"].serves is False


def test_between_two_measured_counts_it_lies_between_their_rates():
    fit = fits(gpfs(), Workload("write", 4 * GIB, nodes=3))["GPFS_PDAISY"]
    assert fit.basis == "between"
    assert fit.rate == pytest.approx(39.3 * MB, rel=1e-3)
    assert fit.low < 26 * MB
    assert fit.high > 52.4 * MB


def test_beyond_what_was_measured_it_says_so_and_stays_below_the_network():
    fit = fits(gpfs(), Workload("write", 4 * GIB, nodes=4, tasks=4))["GPFS_PDAISY"]
    assert fit.basis == "beyond"
    assert fit.rate == pytest.approx(123.755 * MB, rel=1e-4)
    assert any("The network carries 123.8 MB/s" in str(line) for line in fit.why)
    assert any("beyond what was measured" in str(line) for line in fit.doubts)
    assert fit.confidence < 0.5


@pytest.mark.parametrize(
    ("rates", "rate", "low"),
    [({1: [60] * 2, 2: [100] * 2, 4: [101] * 2}, 101, 0.5), ({1: [60] * 2, 2: [50] * 2, 4: [40] * 2}, 40, 0.0)],
    ids=["plateau", "falling"],
)
def test_beyond_a_plateau_it_stays_and_beyond_a_fall_nothing_is_sure(rates, rate, low):
    fit = fits(gpfs(rates), Workload("write", 4 * GIB, nodes=8))["GPFS_PDAISY"]
    assert fit.rate == pytest.approx(rate * MB)
    assert (fit.low > low * rate * MB) is (low > 0)


def test_fewer_tasks_than_measured_get_their_share_at_least():
    single = fits(gpfs({4: [52, 53]}), ONE)["GPFS_PDAISY"]
    assert single.basis == "beyond"
    assert single.rate == pytest.approx(statistics.harmonic_mean([52, 53]) / 4 * MB)
    assert single.high > 52 * MB
    growing = fits(gpfs({2: [26, 26.4], 4: [52, 52.8]}), ONE)["GPFS_PDAISY"]
    assert growing.rate == pytest.approx(13.1 * MB, rel=1e-3)
    assert growing.high < 26 * MB


def test_the_record_size_counts_by_the_law_of_single_records():
    rates = {64 * KIB: [11.1] * 2, 256 * KIB: [33.8] * 2, MIB: [68.4] * 2, 4 * MIB: [99.2] * 2}
    evidence = sweep("record_size", rates, clients=CLIENTS[:1], threads=1).evidence(GPFS)
    fit = fits(evidence, Workload("write", 4 * GIB, record_size=512 * KIB))["GPFS_PDAISY"]
    assert 45 * MB < fit.rate < 60 * MB
    assert fit.doubts == ()
    single = sweep("record_size", {64 * KIB: [11.1]}, clients=CLIENTS[:1], threads=1).evidence(GPFS)
    doubted = fits(single, Workload("write", 4 * GIB, record_size=MIB))["GPFS_PDAISY"]
    assert "Measured with records of 64 KiB, not of 1 MiB." in str(doubted.doubts[0])
    flat = sweep("record_size", {64 * KIB: [99, 99], MIB: [100, 100]}, clients=CLIENTS[:1], threads=1).evidence(GPFS)
    assert fits(flat, Workload("write", 4 * GIB, record_size=16 * MIB))["GPFS_PDAISY"].doubts == ()


def test_small_files_cost_their_creation():
    make = sweep("clients", {1: [100, 100]}, threads=1)
    small = Workload("write", MIB)
    unknown = fits(make.evidence(GPFS), small)["GPFS_PDAISY"]
    assert unknown.low == 0
    assert any("creating files of 1 MiB" in str(line) for line in unknown.doubts)
    make.point(
        "file-system", {"file_create": [100.0]}, tool="mdtest", file_system="GPFS_PDAISY", roles={"node": CLIENTS},
        ranks=1,
    )  # fmt: skip
    fit = fits(make.evidence(GPFS), small)["GPFS_PDAISY"]
    assert fit.rate == pytest.approx(1 / (1 / 100e6 + 1 / (100 * MIB)))
    assert fit.basis == "computed"
    assert fits(make.evidence(GPFS), ONE)["GPFS_PDAISY"].rate == pytest.approx(100 * MB)


def test_random_access_is_judged_by_random_access_only():
    assert fits(gpfs(), Workload("randread", 4 * GIB)) == {}
    make = Storing().point(
        "file-system",
        {"read": [2 * MB], "rate": [2 * MB]},
        tool="fio",
        file_system="GPFS_PDAISY",
        roles={"client": CLIENTS[:1]},
        pattern="randread",
        block_size=4096,
        jobs=1,
    )
    fit = fits(make.evidence(GPFS), Workload("randread", 4 * GIB, record_size=4096))["GPFS_PDAISY"]
    assert fit.rate == pytest.approx(2 * MB)
    assert fit.proposal.tool == "fio"
    assert fits(make.evidence(GPFS), Workload("read", 4 * GIB)) == {}


def test_what_a_cache_gave_is_no_supply():
    make = sweep("clients", {1: [90]}, threads=1, metric="read")
    assert fits(make.evidence(GPFS), Workload("read", 4 * GIB)) != {}
    make.points = [type(make.points[0])(**{**vars(make.points[0]), "warnings": frozenset({"cached-read"})})]
    assert fits(make.evidence(GPFS), Workload("read", 4 * GIB)) == {}


def test_of_two_modes_the_lower_is_what_can_be_counted_on():
    make = Storing().io("GPFS_PDAISY", write=[13 * MB, 80 * MB] * 4)
    fit = fits(make.evidence(GPFS), ONE)["GPFS_PDAISY"]
    assert (fit.rate, fit.high) == (13 * MB, 80 * MB)
    assert any("two modes" in str(line) for line in fit.doubts)


def test_the_best_for_the_workload_comes_first_and_what_surely_serves_before_it():
    make = sweep("clients", RATES, threads=1)
    make.points += sweep("clients", {1: [28, 28], 4: [17, 17]}, file_system="NFS_PGFS01", threads=1).points
    evidence = make.evidence(GPFS, NFS)
    assert [item.file_system for item in workloads.fit(evidence, ONE)] == ["NFS_PGFS01", "GPFS_PDAISY"]
    many = Workload("write", 4 * GIB, nodes=4)
    assert [item.file_system for item in workloads.fit(evidence, many)] == ["GPFS_PDAISY", "NFS_PGFS01"]
    assert [
        item.file_system for item in workloads.fit(evidence, Workload("write", GIB, file_system="NFS_PGFS01"))
    ] == ["NFS_PGFS01"]


def test_a_workload_that_no_application_has_is_refused():
    for wrong in ({"pattern": "append", "file_size": 1}, {"pattern": "read", "file_size": 0}):
        with pytest.raises(ValueError):
            Workload(**wrong)


# For whom it is fit


def drafts(evidence, rule):
    return {draft.subject: draft for draft in workloads.overview(evidence) if draft.rule == rule}


def test_growth_with_tasks_is_fit_for_many_nodes_and_poor_for_few():
    trend = Trend("iozone", "write", "tasks", "rises", best=101 * MB, file_system="GPFS_PDAISY")
    make = Storing().point(
        "file-system",
        {"write": 101 * MB},
        tool="iozone",
        file_system="GPFS_PDAISY",
        roles={"client": CLIENTS},
        clients=3,
        threads=3,
    )
    (draft,) = drafts(make.evidence(GPFS, trends=(trend,)), "workload-nodes").values()
    assert "fit for applications in which many nodes do I/O (write), and poor where few do" in str(draft.title)
    assert "about 11.22 MB/s each" in str(draft.why[0])
    assert drafts(make.evidence(GPFS), "workload-nodes") == {}
    (measured_draft,) = drafts(gpfs(), "workload-nodes").values()
    assert "One client alone gets 13.10 MB/s, 4 of them together 52.40 MB/s (write, record_size = 256 KiB)." in str(
        measured_draft.why[0]
    )
    assert drafts(gpfs({1: [100], 2: [110], 4: [115]}), "workload-nodes") == {}


def test_of_two_file_systems_each_is_named_for_the_nodes_it_serves_best():
    make = sweep("clients", RATES, threads=1)
    make.points += sweep(
        "clients", {1: [28, 28], 2: [26.2, 26.2], 4: [17, 17]}, file_system="NFS_PGFS01", threads=1
    ).points
    findings = drafts(make.evidence(GPFS, NFS), "workload-best")
    assert list(findings) == ["write, 1", "write, 4"]
    assert "For one node (write, record_size = 256 KiB, file_size = 4 GiB) NFS_PGFS01 does best: 28.0" in str(
        findings["write, 1"].title
    )
    assert "4 nodes (write, record_size = 256 KiB, file_size = 4 GiB) GPFS_PDAISY does best: 52.40 MB/s" in str(
        findings["write, 4"].title
    )
    other = FileSystemFacts("far", "nfs", None, ("elsewhere",))
    away = sweep("clients", {4: [900, 900]}, file_system="far", clients=("x1", "x2", "x3", "x4"), threads=1)
    make.points += away.points
    assert drafts(make.evidence(GPFS, NFS, other), "workload-best").keys() == findings.keys()
    assert "GPFS_PDAISY does best" in str(drafts(make.evidence(GPFS, NFS, other), "workload-best")["write, 4"].title)


def _of_records(rates, name, **more):
    """Return points of {record size in KiB: rates in MB/s} of one client."""
    sizes = {size * 1024: values for size, values in rates.items()}
    return sweep("record_size", sizes, file_system=name, clients=CLIENTS[:1], **more).points


@pytest.mark.parametrize(
    ("gpfs_rates", "nfs_rates", "more", "best"),
    [
        # 1 MiB of one beside 64 KiB of the other says nothing.
        ({1024: [100, 101, 99]}, {64: [20, 21, 20]}, {}, ""),
        ({64: [40, 41, 40], 1024: [100, 101, 99]}, {64: [20, 21, 20]}, {}, "GPFS_PDAISY"),
        # Behind with small records, ahead with large ones: neither is the best.
        ({64: [10, 11, 10], 1024: [100, 101, 99]}, {64: [20, 21, 20], 1024: [50, 51, 50]}, {}, ""),
        # Ahead where both were measured, but the other has more with records that it alone was measured with.
        ({64: [40, 41, 40]}, {64: [20, 21, 20], 1024: [80, 81, 80]}, {}, ""),
        # Past the cache and with it are two things.
        ({64: [40, 41, 40]}, {64: [20, 21, 20]}, {"direct": True}, ""),
    ],
)
def test_like_is_compared_with_like(gpfs_rates, nfs_rates, more, best):
    make = Storing()
    make.points = [*_of_records(gpfs_rates, "GPFS_PDAISY"), *_of_records(nfs_rates, "NFS_PGFS01", **more)]
    findings = drafts(make.evidence(GPFS, NFS), "workload-best")
    assert list(findings) == (["write, 1"] if best else [])
    if best:
        title = str(findings["write, 1"].title)
        assert f"{best} does best: 40.33 MB/s, where NFS_PGFS01 gives 20.32 MB/s" in title
        assert "Both were measured with records of 64 KiB." in [str(line) for line in findings["write, 1"].why]


def test_few_and_many_nodes_are_compared_with_the_same_records():
    make = Storing()
    for clients, record, rates in ((1, 65536, [10, 10, 10]), (4, 1048576, [100, 101, 99])):
        own = {"record_size": record, "clients": clients, "threads": 1}
        make.point("file-system", {"write": [rate * MB for rate in rates]}, file_system="GPFS_PDAISY",
                   roles={"client": CLIENTS}, **own)  # fmt: skip
    assert drafts(make.evidence(GPFS), "workload-nodes") == {}
    own = {"record_size": 1048576, "clients": 1, "threads": 1}
    roles = {"client": CLIENTS}
    make.point("file-system", {"write": [30 * MB, 31 * MB, 30 * MB]}, file_system="GPFS_PDAISY", roles=roles, **own)
    (draft,) = drafts(make.evidence(GPFS), "workload-nodes").values()
    assert "One client alone gets 30.33 MB/s, 4 of them together 99.99 MB/s (write, record_size = 1 MiB)." in str(
        draft.why[0]
    )
    # With one client that fills it by larger records it is not poor where few do.
    for clients, rates in ((1, [98, 99, 98]), (4, [100, 101, 99])):
        own = {"record_size": 4 * 1048576, "clients": clients, "threads": 1}
        make.point("file-system", {"write": [rate * MB for rate in rates]}, file_system="GPFS_PDAISY",
                   roles=roles, **own)  # fmt: skip
    assert drafts(make.evidence(GPFS), "workload-nodes") == {}


def test_findings_can_be_stored():
    make = sweep("clients", RATES, threads=1)
    make.points += sweep("clients", {1: [28, 28], 4: [17, 17]}, file_system="NFS_PGFS01", threads=1).points
    findings = workloads.overview(make.evidence(GPFS, NFS))
    assert {draft.rule for draft in findings} == {"workload-nodes", "workload-best"}
    for draft in findings:
        stored = json.loads(json.dumps(draft.as_json(), allow_nan=False))
        for message in (stored["title"], *stored["why"]):
            assert message["msgid"] % message["params"]
