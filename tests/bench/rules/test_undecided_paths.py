"""What was measured of a path and no other finding tells: said as undecided, with the experiment that decides."""

import random

import pytest

from apps.bench import statistics
from apps.bench.rules import ask_ends
from apps.bench.rules.base import DIAGNOSIS, DOUBT, PathFacts
from apps.bench.rules.path import datagrams, modes
from apps.bench.rules.runner import drafts_of
from apps.bench.rules.tcp import window
from tests.bench.rules.cases import Maker, evidence

LINK = PathFacts(1e9, 0.0048, 1500)
# Of six loads up to 900 of a path of 957 Mbit/s no more than 395 arrive.
LOADS = {100: 0.0, 200: 0.0001, 300: 0.003, 400: 0.05, 600: 0.35, 900: 0.56}


@pytest.fixture
def make() -> Maker:
    return Maker()


def loads(make: Maker, losses: dict[int, float]) -> list:
    return [
        make.udp(load * 1e6 * (1 - loss), loss, rate=load * 10**6) for load, loss in losses.items() for _n in range(3)
    ]


def test_datagrams_that_are_held_are_told_as_undecided(make: Maker) -> None:
    measurements = evidence(loads(make, LOADS), LINK)
    (draft,) = [draft for draft in drafts_of(ask_ends(measurements)) if draft.rule == datagrams.RULE]
    assert draft.kind == DOUBT
    assert "396.0 Mbit/s" in str(draft.title)
    assert any("56 % was lost" in str(line) for line in draft.why)
    assert {proposal.tool for proposal in draft.proposals} == {"iperf3-tcp", "pathrate"}
    assert len(draft.alternatives) == 4


def test_what_streams_of_tcp_have_together_rules_the_link_out(make: Maker) -> None:
    points = [*loads(make, LOADS), *make.stream_sweep({1: [350.0] * 3, 4: [900.0] * 3})]
    (draft,) = [draft for draft in drafts_of(ask_ends(evidence(points, LINK))) if draft.rule == datagrams.RULE]
    assert "by no link: 4 streams of TCP together had 900.0 Mbit/s" in str(draft.title)
    assert {trial for point in points[-1:] for trial in point.trials("goodput")} <= {*draft.evidence}


def test_loads_that_arrive_or_that_another_finding_tells_are_not(make: Maker) -> None:
    assert datagrams.conclude(evidence(loads(make, dict.fromkeys(LOADS, 0.0)), LINK)) is None
    # The link is as full as it is said to be.
    full = {500: 0.0, 900: 0.0, 1000: 0.1, 1200: 0.25, 1500: 0.4}
    assert datagrams.conclude(evidence(loads(make, full), LINK)) is None


def test_two_modes_are_told_with_what_would_decide(make: Maker) -> None:
    source = random.Random(3)
    points = [
        make.tcp([source.choice((100e6, 895e6)) * (1 + source.gauss(0, 0.01)) for _n in range(5)], streams=streams)
        for streams in (1, 2, 4, 8)
    ]
    (draft,) = [draft for draft in drafts_of(ask_ends(evidence(points, LINK))) if draft.rule == modes.RULE]
    assert draft.kind == DOUBT
    assert draft.low == pytest.approx(100e6, rel=0.03)
    assert draft.high == pytest.approx(895e6, rel=0.03)
    assert draft.proposals


def test_a_mode_that_each_setting_met_once_is_one(make: Maker) -> None:
    rates = {
        1: [901.5, 100.2, 888.6, 98.6],
        2: [889.8, 99.1, 99.2, 100.7],
        4: [897.7, 100.5, 100.5, 99.6],
        8: [905.7, 100.0, 99.4, 100.5],
    }
    measurements = evidence(make.stream_sweep(rates), LINK)
    draft = modes.conclude(measurements)
    assert draft is not None
    assert "the lower about 11 % of the upper" in str(draft.title)
    # Both are of one setting: beside the mode of another it would be two settings.
    assert (draft.low, draft.high) == (pytest.approx(99.4e6, rel=0.01), pytest.approx(895e6, rel=0.01))
    assert statistics.evenness_of(list(rates.values())) is statistics.Evenness.MODES


@pytest.mark.parametrize("scatter", [0.01, 0.1, 0.3])
def test_one_mode_and_few_outliers_are_none(make: Maker, scatter: float) -> None:
    source = random.Random(4)
    for _round in range(60):
        plain = [make.tcp([9e8 * max(0.05, 1 + source.gauss(0, scatter)) for _n in range(5)]) for _place in range(6)]
        assert modes.conclude(evidence(plain, LINK)) is None
    outliers = [make.tcp([9e8, 9.01e8, 8.99e8, 9e8, 4.5e8 if place < 2 else 9e8]) for place in range(8)]
    assert modes.conclude(evidence(outliers, LINK)) is None


def test_a_window_sweep_that_peaks_says_so_and_nothing_of_the_kernels_own(make: Maker) -> None:
    rates = {
        256: [300, 302, 301],
        512: [600, 601, 599],
        1024: [934, 930, 936],
        4096: [700, 702, 698],
        16384: [400, 402, 398],
    }
    draft = window.conclude(evidence(make.window_sweep(rates)))
    assert draft is not None
    assert draft.kind == DIAGNOSIS
    assert "highest at a window of 1 MiB" in str(draft.title)
    assert draft.change == ""
    assert [str(line) for line in draft.missing] == ["Whether the kernel's own window does as well."]
    single = {size: values[:1] for size, values in rates.items()}
    assert window.conclude(evidence(make.window_sweep(single))) is None
