"""The smallest sufficient number of streams."""

import dataclasses

import pytest

from apps.bench.rules.base import BELOW, Evidence, PathFacts, Trend
from apps.bench.rules.tcp import printed, streams
from apps.bench.rules.tcp.path import read_path
from tests.bench.rules.cases import KIB, Maker, evidence

SWEEP = {1: [141, 142], 2: [280, 283], 4: [553, 554], 8: [980, 985], 16: [989, 990], 32: [990, 989]}


@pytest.fixture
def make():
    return Maker()


def test_the_smallest_count_within_three_per_cent_is_enough(make):
    draft = streams.conclude(evidence([make.ping(0.0048), *make.stream_sweep(SWEEP, window=64 * KIB)]))
    assert draft.value == 8
    assert (draft.low, draft.high) == (5, 8)
    assert draft.change == "iperf3 -c SERVER -w 65536 -P 8\n"
    assert str(draft.title) == "8 streams are enough with a window of 64 KiB: 982.5 Mbit/s"
    assert "expected: N = path / one stream = 990.0 Mbit/s / 141.5 Mbit/s -> 7" in draft.formula
    assert any("×6.94" in str(line) for line in draft.why)
    assert any("99 % of what TCP can have" in str(line) for line in draft.why)
    assert draft.confidence_label == "high"
    assert draft.evidence == tuple(range(2, 14))


def test_the_recorded_untuned_sweep_needs_eight(make):
    draft = streams.conclude(evidence([make.ping(0.00479), *make.recorded("streamsweep_pnu")]))
    assert draft.value == 8
    assert draft.predicted == pytest.approx(982.8e6, rel=1e-3)


def test_one_stream_is_enough_on_a_tuned_path(make):
    draft = streams.conclude(evidence(make.stream_sweep({1: [990, 989], 2: [990, 990], 4: [990, 989]})))
    assert draft.value == 1
    assert str(draft.title).startswith("One stream is enough with the automatic window")
    assert draft.low == draft.high == 1
    tuned = streams.conclude(evidence(make.stream_sweep({1: [990], 4: [990]}, window=KIB * KIB)))
    assert str(tuned.title).startswith("One stream is enough with a window of 1 MiB")


def test_the_fewest_streams_tried_that_fill_the_path_are_no_advice_for_more(make):
    draft = streams.conclude(evidence([make.ping(0.0048), *make.stream_sweep({4: [985, 986], 8: [990, 989]})]))
    assert (draft.kind, draft.value, draft.change) == ("no-change", 4, "")
    assert [str(line) for line in draft.missing] == ["Whether fewer streams do as well."]


def test_the_title_of_an_automatic_window_names_no_size(make):
    draft = streams.conclude(evidence(make.stream_sweep({1: [500], 2: [985], 4: [990]})))
    assert str(draft.title) == "2 streams are enough with the automatic window: 985.0 Mbit/s"


def test_a_rate_that_still_grows_gives_no_count(make):
    assert streams.conclude(evidence(make.stream_sweep({1: [140], 2: [280], 4: [553]}))) is None
    assert streams.conclude(evidence(make.stream_sweep({1: [140], 2: [280]}), PathFacts())) is None


def test_the_largest_count_is_enough_if_it_fills_the_path(make):
    draft = streams.conclude(evidence([make.ping(0.0048), *make.stream_sweep({1: [140], 4: [553], 8: [983]})]))
    assert draft.value == 8


def test_repetitions_that_contradict_each_other_give_no_count(make):
    assert streams.conclude(evidence(make.stream_sweep({**SWEEP, 8: [600, 1330]}))) is None


def test_one_count_is_no_sweep(make):
    assert streams.conclude(evidence(make.stream_sweep({4: [990, 990]}))) is None


def test_a_count_too_many_is_told_with_its_harm(make):
    points = make.stream_sweep({1: [500], 2: [985], 4: [960]})
    points[-1].metrics["fairness"] = {3: 0.71}
    points[-1].metrics["retransmits"] = {3: 115.0}
    draft = streams.conclude(evidence(points))
    assert draft.value == 2
    texts = [str(line) for line in draft.why]
    assert any("Jain 0.71" in text for text in texts) and any("115 segments" in text for text in texts)
    points[-1].metrics["fairness"] = {3: 1.0}
    assert not any("unevenly" in str(line) for line in streams.conclude(evidence(points)).why)


def test_of_equal_sweeps_the_automatic_window_comes_first(make):
    points = [
        *make.stream_sweep({1: [500], 2: [985], 4: [990]}, window=64 * KIB),
        *make.stream_sweep({1: [985], 2: [990], 4: [990]}),
    ]
    assert streams.conclude(evidence(points)).value == 1


def test_without_a_path_it_still_compares_the_counts(make):
    draft = streams.conclude(evidence(make.stream_sweep({1: [500], 2: [985], 4: [1100]}), LINKS_TOO_SLOW))
    assert draft is None
    draft = streams.conclude(evidence(make.stream_sweep({1: [500], 2: [985], 4: [990]}), LINKS_TOO_SLOW))
    assert draft.value == 2
    assert "expected" not in draft.formula


# Slower than what was measured: the path's figures contradict each other and are left out.
LINKS_TOO_SLOW = PathFacts(100_000_000, 0.0048, 1500)


@pytest.mark.parametrize("streams", [2, 8, 50])
@pytest.mark.parametrize("capacity", [622e6, 1e9])
def test_a_printed_shape_predicts_no_rate_that_nobody_measured(streams, capacity):
    make = Maker()
    single = dataclasses.replace(make.tcp([10e6]), statistic=BELOW)
    shape = Trend("iperf2", "goodput", "streams", "saturates", knee=streams, trials=(99,))
    measured = Evidence((make.ping(0.1355), single), PathFacts(capacity, 0.1355), trends=(shape,))
    draft = printed.conclude(measured, read_path(measured))
    assert draft.title.params["streams"] == streams
    assert draft.predicted is None
    printed_best = dataclasses.replace(measured, trends=(dataclasses.replace(shape, best=400e6),))
    assert printed.conclude(printed_best, read_path(printed_best)).predicted == 400e6
