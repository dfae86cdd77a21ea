"""Chance that lets few segments go in a run is named among what may hold a flow, wherever it leaves the rate."""

import random

import pytest

from apps.bench.rules.base import PathFacts
from apps.bench.rules.tcp import per_flow
from tests.bench.rules.cases import TCP, Maker, evidence

SEGMENT, SECONDS, RUNS = 1448, 10.0, 5
# RTT (s) and the rate of a stream (bit/s) whose runs of ten seconds lose one to five segments, by the law of Reno.
SMALL = [(0.03, 46e6), (0.06, 20e6), (0.1, 12e6), (0.15, 8e6)]


def share_of(rtt, rate):
    return 1.5 / (rate * rtt / 8 / SEGMENT) ** 2


def causes(rtt, rate, counts):
    """Return the texts of what may limit each of streams that multiply, of which one lost so many in its runs."""
    make = Maker()
    points = [make.ping(rtt, rtt, rtt)]
    for streams in (1, 2, 4):
        runs = [
            {
                "goodput": streams * rate * (1 + 0.004 * (number - 2)),
                "window_observed": 2.5 * rate * rtt / 8,
                "mean_rtt": rtt,
                "min_rtt": rtt,
                "cpu_local": 20.0,
                "cpu_remote": 15.0,
                "retransmits": streams * count,
            }
            for number, count in enumerate(counts)
        ]
        points.append(make.point(TCP, {"window": 0, "streams": streams, "duration": SECONDS}, *runs))
    draft = per_flow.conclude(evidence(points, PathFacts(1e9, rtt, 1500)))
    return [] if draft is None else [str(cause.title) for cause in draft.alternatives]


def names_chance(texts):
    return any(text.startswith(("Random loss", "Loss in bursts")) for text in texts)


@pytest.mark.parametrize(("rtt", "rate"), SMALL)
@pytest.mark.parametrize("seed", range(6))
def test_few_that_leave_the_rate_are_named(rtt, rate, seed):
    meant = share_of(rtt, rate) * rate * SECONDS / 8 / SEGMENT
    assert meant < 6
    drawn = random.Random(seed)
    counts = [sum(drawn.random() < meant / 1000 for _ in range(1000)) for _ in range(RUNS)]
    assert names_chance(causes(rtt, rate, counts)), counts


@pytest.mark.parametrize(("rtt", "rate"), SMALL)
def test_none_are_not(rtt, rate):
    assert not names_chance(causes(rtt, rate, [0] * RUNS))


def test_one_where_twenty_would_leave_the_rate_is_not():
    assert not names_chance(causes(*SMALL[0], [0, 0, 0, 0, 1]))
