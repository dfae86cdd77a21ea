"""Figures that a judge doubted blame no layer."""

import dataclasses

from apps.bench.rules import layers, pace
from tests.bench.rules.storing import MB, NFS, RAID1, Storing, others_of, own_point


def table_of(evidence, name, metric="write"):
    (table,) = [item for item in layers.table(evidence) if (item.file_system, item.metric) == (name, metric)]
    return table


def slow_nfs(*flags, of=3):
    """Return NFS that fills neither network nor disks, so many of its three trials with flags."""
    make = Storing().tcp("KGFS01", "PGFS01", [980, 981, 979], streams=5, direction="forward")
    make.disk("RAID1", "PGFS01", write=[90 * MB, 91 * MB, 90 * MB])
    make.io("NFS_PGFS01", write=[10 * MB, 10.2 * MB, 10 * MB])
    point = make.points[-1]
    flagged = {flag: frozenset(point.trials("write")[:of]) for flag in flags}
    make.points[-1] = dataclasses.replace(point, warnings=frozenset(flags), flagged=flagged)
    return make.evidence(NFS, RAID1)


def test_figures_that_a_judge_doubted_blame_no_file_system():
    assert table_of(slow_nfs(), "NFS_PGFS01").layer == "file-system"
    # A word of a judge that is no doubt changes nothing.
    assert table_of(slow_nfs("verified"), "NFS_PGFS01").layer == "file-system"
    for flag in sorted(pace.DOUBTED):
        for of in (2, 3):
            doubted = table_of(slow_nfs(flag, of=of), "NFS_PGFS01")
            assert doubted.layer == "", flag
            assert str(doubted.verdict).startswith("Not decided: "), flag
            assert not doubted.alternatives
    assert "too few trials are without a flag" in str(table_of(slow_nfs("low-overlap"), "NFS_PGFS01").verdict)
    assert table_of(slow_nfs("low-overlap", of=1), "NFS_PGFS01").layer == "file-system"
    # A doubt in what was read is none in what was written.
    evidence = slow_nfs("low-overlap")
    for metrics, layer in (({"read"}, "file-system"), ({"read", "write"}, "")):
        bears = {"low-overlap": frozenset(metrics)}
        point = own_point(evidence)
        points = (*others_of(evidence), dataclasses.replace(point, bears=bears))
        assert table_of(dataclasses.replace(evidence, points=points), "NFS_PGFS01").layer == layer


def test_a_lone_figure_beside_doubted_ones_blames_nothing():
    for low in (False, True):
        evidence = slow_nfs("not-steady", of=2)
        point = own_point(evidence)
        values = dict(point.metrics["write"])
        if low:
            values[max(values)] = 60 * MB
        points = (*others_of(evidence), dataclasses.replace(point, metrics={"write": values}))
        assert table_of(dataclasses.replace(evidence, points=points), "NFS_PGFS01").layer == ""
