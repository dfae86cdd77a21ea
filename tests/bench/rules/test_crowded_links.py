"""Streams beside others' flows on a full link: each has its share, and no limit of its own."""

import dataclasses

import pytest

from apps.bench.rules.base import PathFacts
from apps.bench.rules.tcp import per_flow
from apps.bench.rules.tcp.crowd import are_in_proportion, others_of
from tests.bench.rules.cases import Maker, evidence

COUNTS = (1, 2, 4, 8, 16)


@pytest.mark.parametrize("others", [3, 9, 20])
def test_shares_of_a_full_link_tell_how_many_others_there_are(others: int) -> None:
    rates = {count: 1e9 * count / (count + others) for count in COUNTS}
    assert others_of(rates) == pytest.approx(others)
    assert not are_in_proportion(rates, None)


def test_limits_of_each_flow_are_no_shares() -> None:
    rates = {count: min(5e7 * count, 5e8) for count in COUNTS}
    assert others_of(rates) is None
    assert are_in_proportion(rates, 5e8)
    assert not are_in_proportion(rates, None)


@pytest.mark.parametrize(("loaded", "is_open"), [(1.0, False), (3.0, True)])
def test_a_standing_queue_leaves_open_whether_streams_have_a_limit_or_a_share(loaded: float, is_open: bool) -> None:
    make, points = Maker(), []
    for count in (1, 2, 4):
        point = make.tcp([4.5e7 * count] * 3, streams=count, observed=4e6, rtt=0.01)
        queue = {"mean_rtt": dict.fromkeys(point.metrics["goodput"], 0.01 * loaded)}
        points.append(dataclasses.replace(point, metrics={**point.metrics, **queue}))
    measured = evidence([make.ping(0.01), *points], PathFacts(1e9, 0.01, 1500))
    draft = per_flow.conclude(measured)
    assert ("undecided" in str(draft.title)) == is_open
