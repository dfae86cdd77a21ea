"""Few rates of which one lies apart tell whom a file system is fit for: none of their ends lies far beyond them."""

import math
import random

import pytest

from apps.bench.rules import workloads
from apps.bench.rules.workloads.amounts import PointRates, amounts_of
from tests.bench.rules.storing import GPFS, MB, sweep

# The rates (MB/s) of 1, 2, 3 and 4 clients as they were met, with one of three that lies apart.
LEANING = {1: [64.6, 64.8, 82.8], 2: [122, 127, 127], 3: [178, 191, 229], 4: [312, 253, 351]}


@pytest.mark.parametrize("paths", [None, {}])
def test_one_rate_that_lies_apart_hides_no_fit(paths):
    """The harmonic mean of three such rates has an end of 1,348 MB/s."""
    rates = {count: [rate / 2 for rate in own] for count, own in LEANING.items()}
    make = sweep("clients", rates, threads=1)
    drafts = workloads.overview(make.evidence(GPFS, paths=paths))
    assert [draft.rule for draft in drafts if draft.rule == "workload-nodes"] == ["workload-nodes"]


@pytest.mark.parametrize("cv", [0.02, 0.1, 0.2])
@pytest.mark.parametrize("n", [3, 4, 5, 10])
def test_what_ratios_are_told_by_holds_the_mean_and_lies_near_what_was_measured(n, cv):
    draw = random.Random(f"{n} {cv}")
    (point,) = sweep("clients", {1: [100.0] * n}).points
    held = counted = 0
    for _time in range(400):
        rates = {trial: 100 * MB * math.exp(draw.gauss(0, cv)) for trial in range(n)}
        (amount,) = amounts_of({1: [PointRates(point, rates)]}, "write", lambda _cell: 1).values()
        if amount.on_logs is None or amount.is_bimodal:
            continue
        counted += 1
        low, high = amount.ends
        assert low < amount.value < high
        spread = max(rates.values()) / min(rates.values())
        assert high <= max(rates.values()) * spread**3 and low >= min(rates.values()) / spread**3
        held += low <= 100 * MB <= high
    assert held >= 0.92 * counted > 0
