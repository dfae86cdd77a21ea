"""The error of a share is that of the wider side of its rates' intervals, which lean where one run was stuck."""

import pytest

from apps.bench import statistics
from apps.bench.statistics import Mean
from tests.bench.rules.storing import MB, NFS, RAID1, Storing, concluded


@pytest.mark.parametrize("stuck", [4, 6])
def test_one_stuck_run_leaves_the_share_of_the_disks_untold(stuck):
    rates = [rate * MB for rate in (stuck, 20.0, 20.3, 19.8, 20.1, 20.2)]
    summary = statistics.summarise(rates, Mean.HARMONIC)
    sides = summary.mean - summary.ci_low, summary.ci_high - summary.mean
    assert summary.precision == pytest.approx(max(sides) / summary.mean)
    make = Storing().io("NFS_PGFS01", write=rates).disk("RAID1", "PGFS01", write=[110 * MB] * 3)
    make.tcp("KGFS01", "PGFS01", [985, 986, 985], direction="forward", streams=1, window=0)
    drafts = concluded(make.evidence(NFS, RAID1), "storage-share-of-disk")
    assert [draft.title.msgid[:10] for draft in drafts.values()] in ([], ["Not enough"])
