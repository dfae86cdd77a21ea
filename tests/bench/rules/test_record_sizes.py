"""How a record size was chosen is told as it was chosen, and so is what larger records lose."""

import dataclasses
import re
import statistics

import pytest

from apps.bench.rules.storage import records
from tests.bench.rules.storing import CLIENTS, GPFS, MB, NFS, RAID1, concluded, sweep, the

KIB, MIB = 1024, 1024**2
FORMS = {
    "falls": {64 * KIB: [40, 41], 256 * KIB: [70, 71], MIB: [100, 101], 4 * MIB: [101, 102], 16 * MIB: [60, 59]},
    "falls from the first": {64 * KIB: [100, 101], 256 * KIB: [80, 81], MIB: [60, 61]},
    "levels off": {64 * KIB: [40, 41], 256 * KIB: [100, 99], MIB: [101, 100], 4 * MIB: [101, 101]},
    "rises": {64 * KIB: [40, 41], 256 * KIB: [70, 71], MIB: [100, 101]},
    "bends": {64 * KIB: [40, 41], 256 * KIB: [70, 71], MIB: [88, 89], 4 * MIB: [98, 98], 16 * MIB: [101, 100]},
}


@pytest.mark.parametrize("rates", FORMS.values(), ids=FORMS)
def test_the_formula_is_that_by_which_the_record_size_was_chosen(rates):
    draft = the(sweep("record_size", rates).evidence(GPFS), "storage-record-size")
    means = {size: statistics.mean(values) for size, values in rates.items()}
    formula, at = draft.formula.partition(";")[0], int(draft.value)
    if match := re.search(r"the least (from the knee on )?with X >= ([0-9.]+) · ([0-9.]+) MB/s", formula):
        threshold = float(match[2]) * float(match[3])
        assert means[at] >= 0.999 * threshold
        assert match[1] or all(means[size] < threshold for size in means if size < at)
    elif "the largest tried" in formula:
        assert at == max(means)
    else:
        assert "the size of the highest X" in formula
        assert means[at] == max(means.values())
    # What larger records lose is told where they surely do, and nowhere else.
    lines = [str(line) for line in draft.why if "Larger records lose" in str(line)]
    assert bool(lines) == (means[max(means)] < 0.9 * means[at] and draft.proof.now["record_size"] < at)
    assert not lines or "16 MiB it is 59.50 MB/s, 41 % less" in lines[0]


SIZES = [4 * KIB, 64 * KIB, MIB, 4 * MIB]
# The line to Pusan carries 123.8 MB/s.
CACHED = {
    "rises": [900, 1900, 2500, 2550],
    "is flat": [2500, 2510, 2490, 2500],
    "from large records on": [20, 60, 119, 900],
    "falls": [2500, 1900, 900, 800],
    "ends below": [60, 600, 118, 119],
}


def thrice(rates):
    """Return {record size: rates in MB/s} of a sweep with three repetitions."""
    return {size: [rate * part for part in (0.99, 1, 1.01)] for size, rate in zip(SIZES, rates, strict=True)}


@pytest.mark.parametrize("metric", ["write", "read"])
@pytest.mark.parametrize("rates", CACHED.values(), ids=CACHED)
def test_no_record_size_is_advised_by_what_the_network_could_not_have_carried(rates, metric):
    swept = thrice(rates)
    for file_system, facts in (("GPFS_PDAISY", GPFS), ("NFS_PGFS01", NFS)):
        make = sweep("record_size", swept, metric=metric, file_system=file_system, clients=CLIENTS[:1])
        assert concluded(make.evidence(facts), "storage-record-size") == {}
    # Over a network of which nothing is known nobody can tell it from the file system's own.
    alone = sweep("record_size", swept, metric=metric, clients=CLIENTS[:1])
    assert concluded(alone.evidence(GPFS, paths={}), "storage-record-size")


def test_no_record_size_is_advised_by_what_the_disks_could_not_have_given():
    swept = thrice((20, 60, 100, 101))
    for disk, is_told in ((200, True), (50, False)):
        make = sweep("record_size", swept, file_system="NFS_PGFS01", clients=CLIENTS[:1])
        for record_size in swept:
            make.disk("RAID1", "PGFS01", write=[disk * MB] * 3)
            point = make.points[-1]
            make.points[-1] = dataclasses.replace(point, parameters={**point.parameters, "record_size": record_size})
        drafts = concluded(make.evidence(NFS, RAID1), "storage-record-size")
        assert ("NFS_PGFS01 write" in drafts) == is_told


@pytest.mark.parametrize(
    "rates",
    [(60, 95, 110.5, 110.4), (11.1, 62, 99, 105), (60, 98, 110, 110), (30, 99, 110, 111), (55, 92, 118, 119)],
    ids=str,
)
def test_the_law_of_single_records_is_told_where_no_figure_contradicts_it(rates):
    swept = thrice(rates)
    draft = the(sweep("record_size", swept, clients=CLIENTS[:1]).evidence(GPFS), "storage-record-size")
    for line in map(str, draft.why):
        if match := re.search(r"records of ([0-9.]+) (KiB|MiB) give nine tenths", line):
            threshold = float(match[1]) * {"KiB": KIB, "MiB": MIB}[match[2]]
            wait = records.find_wait(dict(zip(SIZES, (MB * rate for rate in rates), strict=True)))
            assert wait.rate * 0.9 == pytest.approx(threshold / (wait.latency + threshold / wait.rate), rel=1e-2)
            assert all(
                rate >= 0.899 * max(rates) for size, rate in zip(SIZES, rates, strict=True) if size >= threshold
            )
    if rates == (60, 95, 110.5, 110.4):
        assert "X = b" not in draft.formula
