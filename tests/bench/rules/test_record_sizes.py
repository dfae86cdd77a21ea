"""How a record size was chosen is told as it was chosen, and so is what larger records lose."""

import re
import statistics

import pytest

from tests.bench.rules.storing import GPFS, sweep, the

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
    said, at = draft.formula.partition(";")[0], int(draft.value)
    if found := re.search(r"the least (from the knee on )?with X >= ([0-9.]+) · ([0-9.]+) MB/s", said):
        least = float(found[2]) * float(found[3])
        assert means[at] >= 0.999 * least
        assert found[1] or all(means[size] < least for size in means if size < at)
    elif "the largest tried" in said:
        assert at == max(means)
    else:
        assert "the size of the highest X" in said
        assert means[at] == max(means.values())
    # What larger records lose is told where they surely do, and nowhere else.
    lost = [str(line) for line in draft.why if "Larger records lose" in str(line)]
    assert bool(lost) == (means[max(means)] < 0.9 * means[at] and draft.proof.now["record_size"] < at)
    assert not lost or "16 MiB it is 59.50 MB/s, 41 % less" in lost[0]
