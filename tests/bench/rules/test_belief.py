"""What one finding refutes no fit of a workload sells, nor does any finding on workloads rest on it."""

import dataclasses
import itertools
import random

import pytest

from apps.bench.rules import workloads
from apps.bench.rules.base import MODE, FileSystemFacts, Trend
from apps.bench.rules.layers import judge_all
from apps.bench.rules.shapes.names import THREADS_OF
from apps.bench.rules.workloads import Workload
from tests.bench.rules.storing import CLIENTS, GIB, GPFS, MB, NFS, RAID1, Storing, wan

MIB = 1024**2
NEAR = (0.99, 1.0, 1.01)
LOCAL = FileSystemFacts("LOCAL", "ext", None, ("PGFS01",))
RIVAL = FileSystemFacts("RIVAL", "ext", None, ("elsewhere",))
POOLED = dataclasses.replace(GPFS, options={"pagepool": 8 * GIB})


def add(make, metric, rate, *, file_system=NFS.name, tool="iozone", clients=1, size=16 * GIB, statistic=None, **more):
    """Add what clients measured (MB/s, three times), and return its trials."""
    values = rate if isinstance(rate, list) else [rate * part for part in NEAR]
    record = {"block_size": MIB} if tool == "fio" else {"record_size": MIB}
    own = {"file_size": size, ("jobs" if tool == "fio" else "threads"): 1, "clients": clients, **record, **more}
    own |= {"statistic": statistic} if statistic else {}
    make.point(
        "file-system", {metric: [value * MB for value in values]}, tool=tool, file_system=file_system,
        roles={"client": CLIENTS[:clients]}, **own,
    )  # fmt: skip
    return {*make.points[-1].trials(metric)}


def marked(make, flag):
    make.points[-1] = dataclasses.replace(make.points[-1], warnings=frozenset({flag}))


# What refutes a figure of NFS or GPFS: each returns the evidence and the refuted trials of a pattern.


def by_links(pattern, metric, tool, clients):
    make = Storing()
    trials = add(make, metric, 500, tool=tool, clients=clients, **_of(tool, pattern))
    return make, (NFS,), None, trials


def by_tcp(pattern, metric, tool, clients):
    make = Storing()
    trials = add(make, metric, 500, tool=tool, clients=clients, **_of(tool, pattern))
    for streams, rate in ((1, 940), (4, 941)):
        for direction in ("forward", "reverse"):
            rates = [rate * part for part in (0.999, 1, 1.001)]
            make.tcp(CLIENTS[0], "PGFS01", rates, streams=streams, direction=direction)
    return make, (NFS,), {}, trials if clients == 1 else set()


def by_disks(pattern, metric, tool, clients):
    make = Storing()
    trials = add(make, metric, 90, tool=tool, clients=clients, **_of(tool, pattern))
    # Asked for the same by more tasks: one has no more of them.
    own = {**make.points[-1].parameters, THREADS_OF[tool]: 4}
    own.pop("clients")
    for way in dict.fromkeys((metric, "write", "read")):
        rates, in_order = {way: [30 * MB * part for part in NEAR]}, _of(tool, way)
        make.point("disk", rates, tool=tool, file_system=LOCAL.name, roles={"client": ("PGFS01",)}, **own | in_order)
    return make, (NFS, LOCAL), None, trials


def by_mark(pattern, metric, tool, clients):
    make = Storing()
    trials = add(make, metric, 90, tool=tool, clients=clients, **_of(tool, pattern))
    marked(make, "cached-read" if "read" in pattern else "cached-write")
    return make, (NFS,), None, trials


def by_pool(pattern, metric, tool, clients):
    make = Storing()
    trials = add(
        make, metric, 90, tool=tool, clients=clients, file_system=POOLED.name, size=GIB, **_of(tool, pattern)
    )
    return make, (POOLED,), None, trials


def _of(tool, pattern):
    return {"pattern": pattern} if tool == "fio" else {}


KINDS = (by_links, by_tcp, by_disks, by_mark, by_pool)
PATTERNS = (
    ("write", "write", "iozone"), ("read", "read", "iozone"), ("randread", "random_read", "iozone"),
    ("randwrite", "random_write", "iozone"), ("randread", "read", "fio"), ("write", "write", "fio"),
)  # fmt: skip
# What is asked: just what was measured, other records, small files, fewer and more nodes, more tasks, one file.
ASKED = (
    {}, {"record_size": MIB}, {"record_size": 4096}, {"record_size": 2 * MIB}, {"file_size": 65536}, {"nodes": 2},
    {"nodes": 3}, {"nodes": 64}, {"tasks": 4}, {"shared": True},
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("pattern", "metric", "tool"), PATTERNS)
@pytest.mark.parametrize("clients", [1, 2])
def test_no_statement_on_workloads_rests_on_what_is_refuted(kind, pattern, metric, tool, clients):
    make, systems, paths, refuted = kind(pattern, metric, tool, clients)
    # A rival that nothing refutes.
    add(make, metric, 2, file_system=RIVAL.name, tool=tool, clients=clients, **_of(tool, pattern))
    evidence = make.evidence(*systems, RIVAL, paths=paths)
    for asked in ASKED:
        workload = Workload(pattern, **{"file_size": 4 * GIB, "wanted": 40 * MB, **asked})
        fits = workloads.fit(evidence, workload)
        assert not refuted & {trial for fit in fits for trial in fit.trials}, asked
        assert {fit.file_system for fit in fits} >= {RIVAL.name}
    told = {trial for draft in workloads.overview(evidence) for trial in draft.trials}
    assert not refuted & told


def test_what_nothing_refutes_is_served():
    """The same figures without what refutes them: the test above could not fail otherwise."""
    make = Storing()
    trials = add(make, "write", 90)
    fits = workloads.fit(make.evidence(NFS), Workload("write", 4 * GIB, wanted=40 * MB))
    assert [(fit.answer, {*fit.trials}) for fit in fits] == [("serves", trials)]


def test_of_two_modes_the_refuted_one_is_left_out():
    make = Storing()
    add(make, "write", [50, 51, 49, 500, 501, 499, 50, 500])
    (fit,) = workloads.fit(make.evidence(NFS), Workload("write", 4 * GIB, wanted=400 * MB))
    assert (fit.answer, len(fit.trials)) == ("too-slow", 4)
    assert fit.high < 60 * MB
    printed = Storing()
    for rate in (50, 500):
        add(printed, "write", [rate], statistic=MODE)
    (fit,) = workloads.fit(printed.evidence(NFS), Workload("write", 4 * GIB))
    assert fit.rate == 50 * MB


@pytest.mark.parametrize("flag", ["cached-by-server"])
def test_what_servers_memory_may_have_given_serves_nobody_surely(flag):
    make = Storing()
    for clients, rate in ((1, 20), (4, 80)):
        add(make, "read", rate, clients=clients)
        marked(make, flag)
    for clients, rate in ((1, 2), (4, 3)):
        add(make, "read", rate, file_system="RAID1", clients=clients)
    evidence = make.evidence(NFS, RAID1)
    for asked in ASKED:
        fits = workloads.fit(evidence, Workload("read", **{"file_size": 4 * GIB, "wanted": 1 * MB, **asked}))
        (fit,) = [item for item in fits if item.file_system == NFS.name]
        assert fit.answer in ("may-serve", "not-known")
        assert any(flag in str(line) for line in fit.doubts)
    assert workloads.overview(evidence) == []
    make.points = [dataclasses.replace(point, warnings=frozenset()) for point in make.points]
    told = workloads.overview(make.evidence(NFS, RAID1))
    assert {draft.rule for draft in told} == {"workload-nodes", "workload-best"}


@pytest.mark.parametrize("factor", ["clients", "threads", "tasks"])
@pytest.mark.parametrize("nodes", [2, 16, 64])
def test_of_what_is_printed_to_fall_more_nodes_are_promised_nothing(factor, nodes):
    make = Storing()
    add(make, "read", 71)
    shapes = {shape: Trend("iozone", "read", factor, shape, file_system=NFS.name) for shape in ("falls", "rises")}
    workload = Workload("read", 4 * GIB, nodes=nodes, wanted=50 * MB)
    for trends in ((shapes["falls"],), (shapes["rises"], shapes["falls"])):
        (fit,) = workloads.fit(make.evidence(NFS, trends=trends), workload)
        assert (fit.low, fit.answer) == (0.0, "may-serve")
        assert any("printed to fall" in str(line) for line in fit.doubts)
    many = Storing()
    add(many, "read", 28, clients=4)
    (fit,) = workloads.fit(many.evidence(NFS, trends=(shapes["falls"],)), Workload("read", 4 * GIB))
    assert fit.high > 28 * MB


def test_whatever_was_measured_no_rate_is_one_that_a_finding_calls_not_believable():
    source, refuted_seen, fits_seen = random.Random(5), 0, 0
    for _case in range(60):
        make = Storing()
        for clients, size, record in itertools.product((1, 2, 4), (GIB, 16 * GIB), (MIB, 4 * MIB)):
            if source.random() < 0.5:
                rate, n = source.choice((5, 30, 90, 118, 130, 300, 900)), source.choice((1, 2, 3, 5))
                values = [rate * source.lognormvariate(0, 0.05) for _turn in range(n)]
                add(make, "write", values, clients=clients, size=size, record_size=record,
                    file_system=source.choice((NFS.name, GPFS.name)))  # fmt: skip
        if source.random() < 0.5:
            make.tcp(CLIENTS[0], "PGFS01", [940, 941, 942], streams=4, direction="forward")
        if source.random() < 0.5:
            make.disk("LOCAL", "PGFS01", write=[source.choice((30, 400)) * MB * part for part in NEAR])
        paths = None if source.random() < 0.7 else {}
        evidence = make.evidence(NFS, GPFS, LOCAL, paths=paths)
        levels = [(verdict.question.facts.name, level) for verdict in judge_all(evidence) for level in verdict.cached]
        cached = {trial for _name, level in levels for trial in level.trials}
        refuted_seen += bool(cached)
        for asked in ASKED:
            nodes = asked.get("nodes", 1)
            for fit in workloads.fit(evidence, Workload("write", **{"file_size": 4 * GIB, "wanted": MB, **asked})):
                fits_seen += 1
                assert not cached & {*fit.trials}
                apiece = [level.value / len(level.clients) for name, level in levels if name == fit.file_system]
                assert fit.answer != "serves" or fit.rate / nodes < min(apiece, default=1e12)
        for draft in workloads.overview(evidence):
            assert not cached & {*draft.trials}
    assert refuted_seen > 30
    assert fits_seen > 300


@pytest.mark.parametrize("nodes", [1, 2, 4, 5, 64, 10_000])
@pytest.mark.parametrize("ends", [1, 2, 4])
def test_what_all_clients_share_is_not_multiplied_by_them(nodes, ends):
    """Each client has 1 Gbit/s of its own, all share a WAN of 1 Gbit/s and a server of 2: 0.124 GB/s."""
    make = Storing()
    add(make, "write", 20 * ends, clients=ends)
    workload = Workload("write", 4 * GIB, nodes=nodes, wanted=200 * MB)
    (fit,) = workloads.fit(make.evidence(NFS), workload)
    assert fit.high <= 123.8 * MB
    assert fit.answer == "too-slow"
    # Turned about, the paths are the same; where only one link is described nobody knows who shares it.
    turned = {
        (server, client): dataclasses.replace(wan(client, server), links=wan(client, server).links[::-1])
        for client in CLIENTS for server in ("PGFS01",)
    }  # fmt: skip
    (fit,) = workloads.fit(make.evidence(NFS, paths=turned), workload)
    assert fit.high <= 123.8 * MB


def test_links_of_ones_own_are_multiplied_up_to_what_is_shared():
    paths = {ends: wan(*ends) for ends in itertools.product(CLIENTS, ("PGFS01",))}
    wide = {
        ends: dataclasses.replace(
            path, links=(path.links[0], *(dataclasses.replace(link, capacity_bps=4e9) for link in path.links[1:])),
        )
        for ends, path in paths.items()
    }  # fmt: skip
    make = Storing()
    add(make, "write", 110)
    evidence = make.evidence(NFS, paths=wide)
    (one,) = workloads.fit(evidence, Workload("write", 4 * GIB))
    for nodes in (2, 3, 4, 5, 64):
        (fit,) = workloads.fit(evidence, Workload("write", 4 * GIB, nodes=nodes))
        assert fit.high == pytest.approx(min(nodes * one.high, 4 * 123.755 * MB), rel=1e-3)


@pytest.mark.parametrize("asked", [item for item in ASKED if item])
def test_a_badge_needs_evidence_for_just_this(asked):
    """All but what was measured is at most likely to serve, though ten times as much is measured as is wanted."""
    make = Storing()
    add(make, "write", 90)
    workload = Workload("write", **{"file_size": 4 * GIB, "wanted": 9 * MB, **asked})
    (fit,) = workloads.fit(make.evidence(RAID1, NFS), workload)
    is_measured = asked == {"record_size": MIB}
    assert fit.answer == "serves" if is_measured else fit.answer in ("may-serve", "not-known")
    assert (fit.serves is True) == is_measured
    assert bool(fit.doubts) != is_measured


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("asked", ASKED)
def test_a_lone_figure_has_no_interval_and_decides_nothing(n, asked):
    make = Storing()
    source = random.Random(n)
    for clients in (1, 4):
        add(make, "write", [20 * clients * source.lognormvariate(0, 0.02) for _turn in range(n)], clients=clients)
    for wanted in (1, 15, 19, 21, 30, 79, 81, 110):
        workload = Workload("write", **{"file_size": 4 * GIB, "wanted": wanted * MB, **asked})
        (fit,) = workloads.fit(make.evidence(NFS), workload)
        if n == 1:
            assert (fit.low, fit.high) == (None, None)
            assert fit.answer in ("may-serve", "not-known")
            assert any("lone figure" in str(line) for line in fit.doubts)
        else:
            assert fit.low <= fit.rate <= fit.high


@pytest.mark.parametrize("size", [GIB // 4, GIB, 64 * GIB])
def test_the_size_of_files_counts(size):
    make = Storing()
    rates = {GIB // 4: 110, GIB: 100, 64 * GIB: 20}
    trials = {own: add(make, "write", rate, size=own) for own, rate in rates.items()}
    (fit,) = workloads.fit(make.evidence(NFS), Workload("write", size))
    assert {*fit.trials} == trials[size]
    assert fit.rate == pytest.approx(rates[size] * MB, rel=1e-3)
    (larger,) = workloads.fit(make.evidence(NFS), Workload("write", 1024 * GIB, wanted=10 * MB))
    assert ({*larger.trials}, larger.answer) == (trials[64 * GIB], "may-serve")
    assert "Measured with files of 64 GiB, not of 1 TiB" in str(larger.doubts[0])
