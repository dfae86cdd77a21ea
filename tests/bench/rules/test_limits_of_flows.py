"""A limit on each flow is told at any share of the path that leaves room for two of them, and only by a test."""

import itertools

import pytest

from apps.bench.rules.base import DIAGNOSIS, PathFacts
from apps.bench.rules.tcp import per_flow
from tests.bench.rules.cases import Maker, evidence

LINE, FULL, RTT = PathFacts(1e9, 0.02, 1500), 940.0, 0.02
COUNTS = [(1, 2), (1, 2, 3), (1, 2, 4, 8)]


def concluded(counts, rate_of, scatter=0.004, repetitions=3):
    """Return the finding over so many streams; the windows that were seen left room for twice as much."""
    make = Maker()
    points = [make.ping(RTT, RTT, RTT)]
    for count in counts:
        noises = [1 + scatter * (place - (repetitions - 1) / 2) for place in range(repetitions)]
        rates = [1e6 * rate_of(count) * noise for noise in noises]
        points.append(make.tcp(rates, streams=count, observed=2.5 * rates[0] * RTT / 8 / count, rtt=RTT))
    return per_flow.conclude(evidence(points, LINE))


@pytest.mark.parametrize(("counts", "limit"), [*itertools.product(COUNTS, range(60, 470, 15))])
def test_streams_that_surely_double_are_each_limited(counts, limit):
    draft = concluded(counts, lambda count: min(FULL, limit * count))
    assert draft is not None
    assert draft.kind == DIAGNOSIS
    assert str(draft.title).startswith("Something limits each flow to about")
    assert draft.value == pytest.approx(1e6 * limit, rel=0.01)


@pytest.mark.parametrize("counts", COUNTS[:2])
@pytest.mark.parametrize(
    ("share", "scatter", "repetitions"),
    # Surely less than twice; twice, but of figures that may as well be less; of one run each.
    [(0.8, 0.004, 3), (0.85, 0.02, 3), (1.0, 0.14, 3), (1.0, 0.0, 1)],
)
def test_few_streams_that_may_have_less_than_their_multiple_are_not(counts, share, scatter, repetitions):
    assert concluded(counts, lambda count: 300 * (1 + (count - 1) * share), scatter, repetitions) is None
