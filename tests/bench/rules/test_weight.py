"""A finding is no surer than its figures: doubted ones, two sizes, and rates beyond the disks as described."""

import dataclasses

import pytest

from apps.bench.rules import layers, pace, storage
from apps.bench.rules.base import DOUBT
from apps.bench.rules.layers.gaps import gaps
from apps.bench.rules.weight import MOST, NO_MEASURE
from tests.bench.rules.storing import GPFS, MB, NFS, RAID1, Storing, sweep

KIB, GIB = 1024, 1024**3
GROWING = {64 * KIB: [11, 11.1], 256 * KIB: [33, 33.1], 1024 * KIB: [68, 68.2]}


def record(evidence):
    (draft,) = [item for item in storage.overview(evidence) if item.rule == "storage-record-size"]
    return draft


@pytest.mark.parametrize("flag", sorted(NO_MEASURE - pace.OF_SERVER))
@pytest.mark.parametrize("bears", [None, "write", "read"])
@pytest.mark.parametrize("is_whole", [True, False])
def test_where_every_figure_of_its_metric_is_doubted_a_finding_is_not_sure(flag, bears, is_whole):
    evidence = sweep("record_size", GROWING).evidence(GPFS)
    points = []
    for place, point in enumerate(evidence.points):
        flagged = {flag: frozenset(point.trials("write"))} if is_whole or place else {}
        own = {flag: frozenset({bears})} if bears and flagged else {}
        points.append(dataclasses.replace(point, flagged=flagged, bears=own, warnings=frozenset(flagged)))
    draft = record(dataclasses.replace(evidence, points=tuple(points)))
    is_doubted = is_whole and bears != "read"
    assert (draft.confidence <= MOST) == is_doubted
    assert any("is flagged" in str(line) and flag in str(line) for line in draft.against) == is_doubted


@pytest.mark.parametrize("count", [2, 3])
def test_growth_takes_three_sizes(count):
    rates = dict(list(GROWING.items())[-count:])
    draft = record(sweep("record_size", rates).evidence(GPFS))
    assert ("still growing" in str(draft.title)) == (count > 2)
    assert draft.missing


@pytest.mark.parametrize(("disk", "is_doubted"), [(None, False), (60 * MB, True), (67 * MB, False), (80 * MB, False)])
def test_a_rate_beyond_the_disks_as_described_is_doubted(disk, is_doubted):
    facts = dataclasses.replace(GPFS, disk_rates={"write": disk, "read": disk} if disk else {})
    draft = record(sweep("record_size", GROWING).evidence(facts))
    assert any("the disks as described" in str(line) for line in draft.against) == is_doubted
    assert (draft.confidence < 0.5) == is_doubted


@pytest.mark.parametrize("size", [None, GIB // 8, 16 * GIB])
def test_what_is_proposed_writes_no_more_than_is_known_to_fit(size):
    make = Storing().io("NFS_PGFS01", write=[28 * MB] * 3)
    if size:
        make.disk("RAID1", "PGFS01", read=30 * MB)
        point = make.points[-1]
        make.points[-1] = dataclasses.replace(point, parameters={**point.parameters, "file_size": size})
    evidence = make.evidence(NFS, RAID1)
    (verdict,) = [item for item in layers.judge_all(evidence) if item.question.metric == "write"]
    entries = [(str(text), item) for text, item in gaps(evidence, verdict) if item and item.file_system == "RAID1"]
    ((text, proposal),) = entries
    assert proposal.fixed.get("file_size") == (min(size, 4 * GIB) if size else None)
    assert ("how much is free there is not known" in text) == (not size)


@pytest.mark.parametrize(("free", "expected"), [(2 * GIB, 2 * GIB), (16 * GIB, 4 * GIB), (GIB // 8, GIB // 8)])
@pytest.mark.parametrize("file_system", ["RAID1", "NFS_PGFS01"])
def test_what_is_proposed_takes_no_more_than_is_free(free, expected, file_system):
    """Whatever was written there before, and though only the clients of the NFS above it looked."""
    make = Storing().io("NFS_PGFS01", write=[28 * MB] * 3).disk("RAID1", "PGFS01", read=30 * MB)
    make.points = [
        dataclasses.replace(point, observed={"file_system_free": free} if point.file_system == file_system else {})
        for point in make.points
    ]
    evidence = make.evidence(NFS, RAID1)
    (verdict,) = [item for item in layers.judge_all(evidence) if item.question.metric == "write"]
    ((text, proposal),) = [
        (str(text), item) for text, item in gaps(evidence, verdict) if item and item.file_system == "RAID1"
    ]
    assert 0.8 * expected < proposal.fixed["file_size"] <= expected
    assert proposal.fixed["file_size"] % 2**20 == 0
    assert "not known" not in text


def test_no_disk_but_the_one_beneath_is_proposed():
    other = dataclasses.replace(RAID1, name="scratch", servers=("PGFS02",))
    make = Storing().io("NFS_PGFS01", write=[28 * MB] * 3)
    (verdict,) = layers.judge_all(make.evidence(NFS, other))
    texts = [str(text) for text, item in gaps(make.evidence(NFS, other), verdict) if item is None]
    assert any("which of them lie beneath it is not known" in text for text in texts)
    assert "scratch" not in [item.file_system for _text, item in gaps(make.evidence(NFS, other), verdict) if item]


SWEEPS = {
    "record_size": ("storage-record-size", GROWING),
    "clients": ("storage-clients", {1: [50, 50.1, 50.2], 2: [98, 98.1, 98.2], 4: [99, 98.8, 99.1]}),
    "threads": ("storage-clients", {1: [50, 50.1, 50.2], 2: [60, 60.1, 60.2], 4: [80, 80.1, 79.9]}),
}


@pytest.mark.parametrize("factor", SWEEPS)
@pytest.mark.parametrize("metric", ["read", "write"])
@pytest.mark.parametrize("places", [(), (0,), (0, 1, 2)], ids=["none", "one", "all"])
def test_what_the_servers_memory_may_have_given_tells_nothing_of_records_and_clients(factor, metric, places):
    rule, rates = SWEEPS[factor]
    evidence = sweep(factor, rates, metric=metric).evidence(GPFS)
    points = []
    for place, point in enumerate(evidence.points):
        # One repetition that is doubted is enough: it is in the mean.
        flagged = {"cached-by-server": frozenset(point.trials(metric)[:1])} if place in places else {}
        bears = {name: frozenset({"read", "read_iops"}) for name in flagged}
        points.append(dataclasses.replace(point, flagged=flagged, bears=bears, warnings=frozenset(flagged)))
    drafts = storage.overview(dataclasses.replace(evidence, points=tuple(points)))
    (draft,) = [item for item in drafts if item.rule == rule]
    is_doubted = bool(places) and metric == "read"
    assert (draft.kind == DOUBT) == is_doubted
    assert ("servers' memory may have been read" in str(draft.title)) == is_doubted
    if is_doubted:
        assert (draft.change, draft.proof, draft.predicted, draft.tried) == ("", None, None, None)
        assert draft.confidence <= MOST
        assert f"Of {len(places)} of 3 settings" in str(draft.why[-1])
