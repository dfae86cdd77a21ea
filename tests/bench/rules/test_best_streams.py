"""Of numbers of streams that were measured the best is told, and what more of them lose."""

import itertools
import random

import pytest

from apps.bench.rules.base import RECOMMENDATION
from apps.bench.rules.tcp import limits, streams
from apps.bench.rules.tcp.sweeps import find_sweeps, tcp_points
from tests.bench.rules.test_better_settings import concluded, evidence_of_rates
from tests.bench.rules.test_folding import drafts_on

COUNTS = (1, 2, 4, 8, 16, 32)


@pytest.mark.parametrize(("peak", "share"), [*itertools.product((4, 8, 16), (0.3, 0.5, 0.7))])
def test_streams_beyond_the_best_number_are_warned_of(peak, share):
    rising = {1: 200, 2: 390, 4: 700, 8: 850, 16: 930}
    rates = {(0, count): rising[count] if count <= peak else share * rising[peak] for count in COUNTS}
    measurements = evidence_of_rates(rates, random.Random(2))
    drafts = concluded(measurements)
    (lead,) = [draft for draft in drafts if draft.kind == RECOMMENDATION]
    assert lead.change == f"iperf3 -c SERVER -P {peak}\n"
    assert any("iperf3 -P 32" in str(line) and "% less" in str(line) for line in lead.why)
    (flow,) = [draft for draft in drafts if draft.rule == "tcp-per-flow-limit"]
    reasons = " ".join(map(str, flow.why))
    assert "streams fill it" not in reasons
    assert f"Of the numbers of streams tried {peak} had the highest rate" in reasons
    assert "N = η" not in flow.formula
    raised = limits.conclude(measurements)
    assert raised is None or f"less than with {peak}" in str(raised.alternatives[0].title)
    assert raised is not None or peak < 16
    # What they fall to is not what the path holds.
    assert not [draft for draft in drafts if "path is the limit" in str(draft.title)]
    assert not [line for draft in drafts for line in draft.why if "more streams give no more" in str(line)]


def test_numbers_measured_are_not_estimated_from_the_first():
    # By the rate of one stream six fill the path; eight were measured, and have half of it.
    rates = {(0, 1): 157, (0, 2): 300, (0, 4): 450, (0, 8): 500, (0, 16): 640}
    (flow,) = [
        draft for draft in drafts_on(evidence_of_rates(rates, random.Random(3))) if draft.rule == "tcp-per-flow-limit"
    ]
    reasons = " ".join(map(str, flow.why))
    assert "streams fill it" not in reasons
    assert "Of the numbers of streams tried 16 had the highest rate: 6" in reasons


@pytest.mark.parametrize("scatter", [0.006, 0.02, 0.05])
def test_the_number_of_streams_is_the_least_only_where_it_is(scatter):
    chance, advised = random.Random(4), 0
    for _world in range(60):
        level = chance.uniform(300, 900)
        rates = {(0, count): min(150 * count, level) for count in COUNTS}
        measurements = evidence_of_rates(rates, chance, scatter)
        draft = streams.conclude(measurements)
        if draft is None or "the least with X >=" not in draft.formula:
            continue
        advised += 1
        (sweep,) = find_sweeps(tcp_points(measurements), "streams")
        assert sweep.first_within(streams.WITHIN).value == draft.value
    assert advised >= 10
