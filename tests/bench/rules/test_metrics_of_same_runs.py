"""Both metrics of the same runs are told of: what helps one and leaves the other as it is, in one finding."""

import itertools

import pytest

from apps.bench.rules import folding, storage
from apps.bench.rules.base import NO_CHANGE
from tests.bench.rules.storing import CLIENTS, GIB, GPFS, MB, Storing

NOISE = (0.99, 1.0, 1.01, 1.0)
SHAPES = {
    "grows": lambda count: 11.2 * count,
    "flat": lambda count: 82.0,
    "falls": lambda count: 82.0 / (1 + 0.15 * count),
}
COUNTS = {"threads": range(1, 10), "clients": range(1, 5)}


def runs(factor, shapes):
    """Return evidence of IOzone over clients, or over threads on one, of these metrics by their shapes."""
    make = Storing()
    for count in COUNTS[factor]:
        rates = {name: [SHAPES[shape](count) * noise * MB for noise in NOISE] for name, shape in shapes.items()}
        clients = CLIENTS if factor == "clients" else CLIENTS[:1]
        fixed = {"file_size": 4 * GIB, "record_size": 262144, "threads": 1, factor: count}
        make.point("file-system", rates, file_system="GPFS_PDAISY", roles={"client": clients}, **fixed)
    return make.evidence(GPFS)


def told(measurements):
    """Return the findings on clients and tasks as a page has them."""
    drafts = folding.fold(storage.overview(measurements))
    return [draft for draft in drafts if draft.rule == "storage-clients"]


def metrics_of(draft):
    return [item.title.params["way"].split(",")[0] for item in (draft, *draft.parts)]


@pytest.mark.parametrize("factor", COUNTS)
@pytest.mark.parametrize(("write", "read"), list(itertools.product(SHAPES, SHAPES)))
def test_no_metric_loses_its_finding_by_another_of_the_same_runs(factor, write, read):
    drafts = told(runs(factor, {"write": write, "read": read}))
    assert sorted(name for draft in drafts for name in metrics_of(draft)) == ["read", "write"]
    for metric, shape in (("write", write), ("read", read)):
        [alone] = told(runs(factor, {metric: shape}))
        [beside] = [
            item for draft in drafts for item in (draft, *draft.parts) if item.title.params["way"].startswith(metric)
        ]
        assert (beside.title, beside.kind, beside.value) == (alone.title, alone.kind, alone.value)
    if (write == "flat") != (read == "flat"):
        [lead] = drafts
        assert lead.kind != NO_CHANGE
        assert any(str(lead.parts[0].title) in str(line) for line in lead.why)
    are_opposed = {write, read} == {"grows", "falls"}
    assert all(any("another metric" in str(line) for line in draft.against) == are_opposed for draft in drafts)


def test_many_tasks_are_advised_for_writes_though_reads_are_level():
    [draft] = told(runs("threads", {"write": "grows", "read": "flat"}))
    assert "grows with the tasks (write" in str(draft.title)
    assert "gives the same with 1 as with 9 tasks (read" in str(draft.parts[0].title)
