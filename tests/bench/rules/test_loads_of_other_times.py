"""Loads of datagrams that were measured at two times are not averaged where the two contradict each other."""

import dataclasses
import itertools

import pytest

from apps.bench.rules.base import LinkFacts, PathFacts
from apps.bench.rules.path import findings
from apps.bench.rules.tcp import estimates
from tests.bench.rules.cases import Maker, evidence

LINKS = PathFacts(1e9, 0.02, 1500, (LinkFacts("WAN", 1e9),), "WAN")
RATES = (100e6, 200e6, 400e6, 600e6, 900e6)


def loads(make, capacity, experiment, rates=RATES):
    points = [make.udp(min(rate, capacity), 1 - min(1.0, capacity / rate), rate=round(rate)) for rate in rates]
    return [dataclasses.replace(point, experiment=experiment) for point in points]


@pytest.mark.parametrize(("one", "other"), [*itertools.permutations((150e6, 300e6, 500e6, 850e6), 2)])
def test_what_is_told_of_loads_was_measured_at_one_time(one, other):
    make = Maker()
    points = [make.ping(0.02), *loads(make, one, 1), *loads(make, other, 2)]
    curve, trials = estimates.loss_curve_of(evidence(points, LINKS))
    most = max(one, other)
    for point in curve.points:
        assert point.delivered == pytest.approx(min(point.offered, most), rel=0.01)
    assert len(trials) == len(RATES)
    drafts = [item for item in findings(evidence(points, LINKS)) if item.rule in ("path-capacity", "path-datagrams")]
    assert drafts
    for draft in drafts:
        assert any("at another time" in str(line) for line in draft.against), draft.title


def test_loads_of_two_experiments_that_agree_are_one_curve():
    make = Maker()
    points = [*loads(make, 500e6, 1, RATES[:3]), *loads(make, 500e6, 2, RATES[2:])]
    curve, trials = estimates.loss_curve_of(evidence([make.ping(0.02), *points], LINKS))
    assert [point.offered for point in curve.points] == list(RATES)
    assert len(trials) == len(points)
    assert not estimates.of_other_times(evidence(points, LINKS))
