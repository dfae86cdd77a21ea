"""A file system that hangs in some runs is a fault to look into: no rate of zero is a point of a curve."""

import dataclasses

import pytest

from apps.bench.rules import ask_whole, runner
from apps.bench.rules.base import DISK, DOUBT, FILE_SYSTEM
from tests.bench.rules import null_worlds
from tests.bench.rules.storing import GIB, MB, NFS, RAID1, Storing

N, SILENCE = 4, "storage-silence"
FACTORS = {
    "clients": (1, 2, 4),
    "threads": (1, 2, 4),
    "record_size": (65536, 2**20, 2**24),
}
RATES = {"flat": (60, 60, 60), "grows": (30, 60, 110), "falls": (110, 60, 30), "level": (60, 110, 110)}


def world(factor, rates, empty=(), runs=N, metrics=("write", "read")):
    """Return a sweep with {runs} of the settings at these places in which nothing moved."""
    make = Storing().tcp("KGFS01", "PGFS01", [940, 941, 942])
    make.point(DISK, {"write": [300 * MB] * 3, "read": [400 * MB] * 3}, file_system=RAID1.name,
               roles={"client": ("PGFS01",)}, file_size=4 * GIB, record_size=262144)  # fmt: skip
    for place, (value, rate) in enumerate(zip(FACTORS[factor], rates, strict=True)):
        values = [rate * MB * share for share in (0.99, 1.0, 1.01, 1.0)]
        none = [0.0] * runs + values[runs:] if place in empty else values
        make.point(
            FILE_SYSTEM,
            {name: none if name in metrics else values for name in ("write", "read")},
            file_system=NFS.name,
            roles={"client": ("KGFS01", "KGFS02", "KGFS03", "KGFS04")[: value if factor == "clients" else 1]},
            **{"file_size": 4 * GIB, "record_size": 262144, "clients": 1, factor: value},
        )
    return make.evidence(NFS, RAID1)


def drafts_of(evidence):
    return runner.drafts_of(ask_whole(evidence))


def without(evidence):
    """Return evidence as it is where the runs without data were never made."""
    points = [
        dataclasses.replace(
            point,
            metrics={
                name: {t: v for t, v in own.items() if v} for name, own in point.metrics.items() if any(own.values())
            },
        )
        for point in evidence.points
    ]
    return dataclasses.replace(evidence, points=tuple(point for point in points if point.metrics))


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("shape", RATES)
@pytest.mark.parametrize("empty", [(0,), (1,), (2,), (1, 2)])
@pytest.mark.parametrize(("runs", "metrics"), [(1, ("write", "read")), (N, ("write", "read")), (N, ("write",))])
def test_what_is_said_is_said_of_the_runs_in_which_something_moved(factor, shape, runs, empty, metrics):
    evidence = world(factor, RATES[shape], empty, runs, metrics)
    drafts, clean = drafts_of(evidence), drafts_of(without(evidence))
    silent = [draft for draft in drafts if draft.rule == SILENCE]
    assert [(draft.kind, len(draft.trials)) for draft in silent] == [(DOUBT, runs * len(empty))]
    others = [draft for draft in drafts if draft.rule != SILENCE]
    assert [(draft.rule, draft.title, draft.value) for draft in others] == [
        (draft.rule, draft.title, draft.value) for draft in clean
    ]
    for draft in others:
        if draft.kind != DOUBT and draft.subject.startswith(NFS.name):
            assert any("nothing was written or read" in str(line) for line in draft.against), draft.rule
            assert draft.confidence <= 0.5


@pytest.mark.parametrize("factor", FACTORS)
def test_where_nothing_ever_moved_nothing_is_said_of_the_file_system(factor):
    drafts = drafts_of(world(factor, RATES["grows"], (0, 1, 2)))
    assert {draft.rule for draft in drafts if NFS.name in draft.subject} == {SILENCE}


@pytest.mark.parametrize("world_of", null_worlds.OF_WHOLE, ids=lambda item: item.__name__)
def test_it_is_silent_where_something_always_moved(world_of):
    assert SILENCE not in {draft.rule for draft in drafts_of(world_of(null_worlds.Draw(0, 0.02, 3), 1.2))}
