"""A finding is no surer than its figures: doubted ones, two sizes, and rates beyond the disks as described."""

import dataclasses

import pytest

from apps.bench.rules import layers, storage
from apps.bench.rules.layers.gaps import gaps
from apps.bench.rules.weight import MOST, NO_MEASURE
from tests.bench.rules.storing import GPFS, MB, NFS, RAID1, Storing, sweep

KIB, GIB = 1024, 1024**3
GROWING = {64 * KIB: [11, 11.1], 256 * KIB: [33, 33.1], 1024 * KIB: [68, 68.2]}


def record(evidence):
    (draft,) = [item for item in storage.overview(evidence) if item.rule == "storage-record-size"]
    return draft


@pytest.mark.parametrize("flag", sorted(NO_MEASURE))
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
    facts = dataclasses.replace(GPFS, disk_bytes_per_s=disk)
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
    told = [(str(text), item) for text, item in gaps(evidence, verdict) if item and item.file_system == "RAID1"]
    ((text, proposal),) = told
    assert proposal.fixed.get("file_size") == (min(size, 4 * GIB) if size else None)
    assert ("how much is free there is not known" in text) == (not size)
