"""Disks that are only described: what they write is set beside what is written, what they read beside reads."""

import dataclasses

import pytest

from apps.bench.rules import layers, storage
from tests.bench.rules.storing import GPFS, MB, Storing

RAID = dataclasses.replace(GPFS, disk_rates={"read": 400 * MB, "write": 30 * MB})


def drafts_of(facts, **rates):
    evidence = Storing().io("GPFS_PDAISY", **{name: [rate] * 6 for name, rate in rates.items()}).evidence(facts)
    return [*layers.overview(evidence), *storage.overview(evidence)]


def test_writes_that_fill_what_disks_write_are_not_blamed_on_the_file_system():
    drafts = drafts_of(RAID, write=27.8 * MB)
    assert [draft.rule for draft in drafts] == ["undecided-layer"]
    assert "X / B_disk = 27.80 MB/s / 30.00 MB/s = 0.93" in drafts[0].formula


def test_reads_are_held_against_what_disks_read():
    [draft] = [draft for draft in drafts_of(RAID, read=71.5 * MB) if draft.rule == "limiting-layer"]
    assert "X / B_disk = 71.50 MB/s / 400.0 MB/s = 0.18" in draft.formula
    assert not any("said to give only" in str(line) for line in draft.against)


@pytest.mark.parametrize(("metric", "other"), [("write", "read"), ("read", "write")])
def test_what_is_said_of_one_direction_says_nothing_of_the_other(metric, other):
    facts = dataclasses.replace(GPFS, disk_rates={other: 30 * MB})
    drafts = drafts_of(facts, **{metric: 27.8 * MB})
    assert "B_disk" not in " ".join(draft.formula for draft in drafts)
    assert "limiting-layer" not in {draft.rule for draft in drafts}
