"""Datagrams that some runs of a load lost, and others did not, are not said to be lost by chance: by no rule."""

import itertools

import pytest

from apps.bench.rules import path, tcp
from apps.bench.rules.base import LinkFacts, PathFacts
from tests.bench.rules.cases import Maker, evidence

LINKS = PathFacts(1e9, 0.02, 1500, (LinkFacts("WAN", 1e9),), "WAN")


def sentences_of(runs: int, hit: int, rates: tuple[int, ...], tcp_rate: float | None) -> str:
    """Return all that is said where `hit` of so many runs of each load (Mbit/s) lost 2 %, as all of 800 did then."""
    make, loss = Maker(), 0.02 if runs == hit else 0.0
    points = [make.ping(0.02), make.udp(800e6 * (1 - loss), loss, rate=800 * 10**6, duration=10)]
    for rate, run in itertools.product(rates, range(runs)):
        loss = 0.02 if run < hit else 0.0
        points.append(make.udp(rate * 1e6 * (1 - loss), loss, rate=rate * 10**6, duration=10))
    if tcp_rate:
        points.append(make.tcp([tcp_rate] * 3, rtt=0.02, duration=10))
    measured = evidence(points, LINKS)
    return "\n".join(str(draft.as_json()) for draft in [*tcp.findings(measured), *path.findings(measured)])


@pytest.mark.parametrize(("runs", "rates"), [*itertools.product((1, 2, 3, 5, 8), ((100,), (100, 200)))])
@pytest.mark.parametrize("tcp_rate", [None, 20e6])
def test_bursts_are_not_said_to_be_chance(runs: int, rates: tuple[int, ...], tcp_rate: float | None) -> None:
    for hit in range(1, runs):
        sentences = sentences_of(runs, hit, rates, tcp_rate)
        assert "The path loses %(share)s %% of datagrams" not in sentences, hit
        assert "are lost by chance" not in sentences, hit
    assert "The path loses %(share)s %% of datagrams" in sentences_of(runs, runs, rates, tcp_rate)
