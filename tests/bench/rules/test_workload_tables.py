"""Fits rest on the newest campaign, on files used as the workload uses them, and on what their whole table shows."""

import dataclasses
import itertools
import random

import pytest

from apps.bench.rules import workloads
from apps.bench.rules.base import FILE_SYSTEM, Evidence, FileSystemFacts
from apps.bench.rules.workloads import Workload
from tests.bench.rules.storing import GIB, MB, Storing
from tests.rotation import part_of

MIB = 1024**2
DAY = 86400.0
TODAY = 1_790_000_000.0
MANY = tuple(f"c{place}" for place in range(1, 9))
FACTS = {"lus": FileSystemFacts("lus", "lustre", MIB, ("s1",))}
COUNTS = (1, 2, 4, 8)
SEEDS = range(40)


def table(make, rates_of, *, campaign=1, at=TODAY, counts=COUNTS, tool="iozone", **parameters):
    """Add points of writing by so many clients: {clients: rates}."""
    before = len(make.points)
    for count in counts:
        own = {"record_size": MIB, "file_size": 8 * GIB, "threads": 1, "clients": count}
        if tool == "ior":
            own = {"transfer_size": MIB, "block_size": 8 * GIB, "ranks": count}
        roles = {"node" if tool == "ior" else "client": MANY}
        make.point(FILE_SYSTEM, {"write": rates_of(count)}, tool=tool, file_system="lus", roles=roles,
                   **own, **parameters)  # fmt: skip
    make.points[before:] = [dataclasses.replace(point, campaign=campaign, at=at) for point in make.points[before:]]


def evidence_of(make):
    return Evidence(tuple(make.points), file_systems=FACTS)


def drawn(source, rate, n, cv=0.02):
    return [rate * source.gauss(1, cv) for _repetition in range(n)]


def bimodal(source, n):
    """Return {clients: rates} of 13 or 80 MB/s by chance, whatever the clients."""
    return {count: [source.choice((13, 80)) * MB * source.gauss(1, 0.02) for _run in range(n)] for count in COUNTS}


def words(messages):
    return " ".join(map(str, messages))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_file_system_that_changed_is_answered_by_the_newest_campaign(seed):
    source, make = random.Random(seed), Storing()
    old, share = source.uniform(2e8, 6e8), source.choice((0.4, 0.6, 1.8))
    elder, newer = source.choice((3, 5, 10)), source.choice((2, 3, 5))
    table(make, lambda count: drawn(source, old, elder), campaign=1, at=TODAY - 365 * DAY)
    table(make, lambda count: drawn(source, old * share, newer), campaign=2)
    source.shuffle(make.points)
    wanted = old * (0.5 * (1 + share) if share < 1 else share * 1.3)
    (fit,) = workloads.fit(evidence_of(make), Workload("write", 8 * GIB, nodes=4, record_size=MIB, wanted=wanted))
    assert fit.rate == pytest.approx(old * share, rel=0.1)
    assert len(fit.trials) == newer
    assert fit.answer not in ("serves", "may-serve")
    assert "measured on 2026-09-21" in words(fit.why)
    # The level of the year before stands beside it, as a doubt where it surely was another.
    assert "2025-09-21" in words((*fit.why, *fit.doubts))
    if newer > 2:
        assert "surely changed" in words(fit.doubts)


def test_a_file_system_that_did_not_change_serves_and_has_the_older_level_beside_it():
    make = Storing()
    table(make, lambda count: [200 * MB, 202 * MB, 204 * MB], campaign=1, at=TODAY - 365 * DAY)
    table(make, lambda count: [201 * MB, 203 * MB, 202 * MB], campaign=2)
    (fit,) = workloads.fit(evidence_of(make), Workload("write", 8 * GIB, nodes=4, record_size=MIB, wanted=100 * MB))
    assert fit.answer == "serves"
    assert not fit.doubts
    assert "of 2025-09-21, it was 202.0 MB/s (n = 3)" in words(fit.why)


def test_a_lone_figure_of_today_does_not_take_the_place_of_repeated_ones_but_makes_them_doubtful():
    make = Storing()
    table(make, lambda count: [200 * MB, 202 * MB, 204 * MB], campaign=1, at=TODAY - 365 * DAY)
    table(make, lambda count: [80 * MB], campaign=2)
    (fit,) = workloads.fit(evidence_of(make), Workload("write", 8 * GIB, nodes=4, record_size=MIB, wanted=100 * MB))
    assert fit.rate == pytest.approx(202 * MB, rel=0.01)
    assert "2026-09-21" in words(fit.doubts)
    assert fit.answer == "may-serve"


def test_what_was_not_measured_again_is_doubtful_where_the_rest_has_changed():
    """Two and eight clients again, and slower: what four had a year ago is not what they have."""
    make = Storing()
    table(make, lambda count: [200 * MB, 202 * MB, 204 * MB], campaign=1, at=TODAY - 365 * DAY)
    table(make, lambda count: [80 * MB, 81 * MB, 82 * MB], campaign=2, counts=(2, 8))
    (fit,) = workloads.fit(evidence_of(make), Workload("write", 8 * GIB, nodes=4, record_size=MIB, wanted=100 * MB))
    assert "measured again since then" in words(fit.doubts)
    assert fit.answer != "serves"


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_files_used_otherwise_are_never_first_without_a_doubt(seed, is_shared):
    """Of a shared file and a file for each, whichever the workload has; only one was measured, or both."""
    source = random.Random(seed)
    fast = source.uniform(2e8, 4e8)
    rates = {False: fast * source.uniform(0.3, 0.7), True: fast}
    for measured in ((True,), (False,), (True, False)):
        make = Storing()
        for own in measured:
            table(make, lambda count, own=own: drawn(source, rates[own], 3), tool="ior", file_per_process=own)
        wanted = 0.8 * rates[not is_shared]
        workload = Workload("write", 8 * GIB, nodes=8, record_size=MIB, shared=is_shared, wanted=wanted)
        first, *_others = workloads.fit(evidence_of(make), workload)
        if is_shared is not measured[0] or len(measured) == 2:
            assert first.settings.get("file_per_process", False) is (not is_shared)
            assert not first.doubts
            assert first.basis == "measured"
        else:
            assert "file" in words(first.doubts)
            assert first.answer not in ("serves", "too-slow")


@pytest.mark.parametrize(("seed", "n"), part_of(itertools.product(SEEDS, (2, 3, 5))))
def test_the_upper_of_two_modes_of_a_table_is_sold_nowhere(seed, n):
    source, make = random.Random(seed), Storing()
    figures = bimodal(source, n)
    # Where no setting met both modes nothing shows them.
    while max(max(own) / min(own) for own in figures.values()) < 1.5:
        figures = bimodal(source, n)
    table(make, figures.__getitem__)
    for nodes in COUNTS:
        (fit,) = workloads.fit(
            evidence_of(make), Workload("write", 8 * GIB, nodes=nodes, record_size=MIB, wanted=30 * MB)
        )
        assert fit.answer != "serves"
        assert fit.doubts
    assert not [draft for draft in workloads.overview(evidence_of(make)) if draft.rule == "workload-nodes"]


def test_a_table_that_scatters_evenly_is_not_doubted():
    make, source = Storing(), random.Random(1)
    table(make, lambda count: drawn(source, 80 * MB, 5, 0.04))
    for nodes in COUNTS:
        (fit,) = workloads.fit(
            evidence_of(make), Workload("write", 8 * GIB, nodes=nodes, record_size=MIB, wanted=30 * MB)
        )
        assert (fit.answer, fit.doubts) == ("serves", ())
