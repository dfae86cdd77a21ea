"""A setting that was measured, and surely had more than the present one, is the advice: nothing speaks past it."""

import dataclasses
import itertools
import random

import pytest

from apps.bench.rules import folding
from apps.bench.rules.base import RECOMMENDATION, PathFacts
from tests.bench.rules.cases import Maker, evidence
from tests.bench.rules.test_folding import drafts_on
from tests.rotation import part_of

PATH = PathFacts(1_000_000_000, 0.02, 1500)
WINDOWS = (1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26)
SEEN = ("window_observed", "window_granted", "mean_rtt", "min_rtt")


def evidence_of_rates(rates, chance, scatter=0.006):
    """Return evidence of {(window, streams): Mbit/s}, as a table tells it: four times, and nothing but the rate."""
    make = Maker()
    points = []
    for (window, count), rate in rates.items():
        point = make.tcp([rate * 1e6 * chance.gauss(1, scatter) for _time in range(4)], window, count)
        for name in SEEN:
            point.metrics.pop(name, None)
        points.append(point)
    return evidence(points, PATH)


def concluded(measurements):
    return folding.fold_ends(drafts_on(measurements), measurements)


def advised(drafts):
    """Return the settings that are advised, in the findings and in their parts."""
    every = [one for draft in drafts if draft.kind == RECOMMENDATION for one in (draft, *draft.parts)]
    return [draft for draft in every if draft.predicted]


@pytest.mark.parametrize(
    ("gain", "place", "after", "automatic"),
    # As many parts as are common to none of these numbers of values: each value is tried in each run.
    part_of(itertools.product((1.03, 1.085, 1.17, 1.6), (2, 3, 4), (1.0, 0.5), (350, 560, 790, 840)), parts=5),
)
def test_where_a_window_surely_had_more_none_says_that_it_gains_nothing(gain, place, after, automatic):
    best = min(automatic * gain, 935)
    rates = {(0, 1): automatic}
    for at, window in enumerate(WINDOWS):
        law = window * 8 / 0.02 / 1e6
        rates[window, 1] = min(law, 0.6 * automatic) if at < place else best if at == place else after * best
    drafts = concluded(evidence_of_rates(rates, random.Random(1)))
    titles = [str(one.title) for draft in drafts for one in (draft, *draft.parts)]
    assert not [title for title in titles if "nothing now" in title or "Ask for no window" in title], titles
    if best > 1.06 * automatic:
        assert any(draft.predicted > 1.04 * automatic * 1e6 for draft in advised(drafts)), titles


def test_without_a_better_window_it_is_still_said_that_none_gains():
    rates = {(0, 1): 860, **{(window, 1): min(window * 8 / 0.02 / 1e6, 700) for window in WINDOWS}}
    titles = [str(draft.title) for draft in concluded(evidence_of_rates(rates, random.Random(1)))]
    assert any("gains nothing now" in title for title in titles), titles
    assert any("Ask for no window" in title for title in titles), titles


def test_the_window_that_had_the_most_is_advised_and_what_larger_ones_lose_is_told():
    rates = {(0, 1): 800, (1 << 20, 1): 300, (1 << 22, 1): 930, (1 << 24, 1): 400, (1 << 26, 1): 250}
    drafts = concluded(evidence_of_rates(rates, random.Random(6)))
    (lead,) = [draft for draft in drafts if draft.kind == RECOMMENDATION]
    assert lead.change == "iperf3 -c SERVER -w 4194304\n"
    assert any("iperf3 -w 67108864 had 25" in str(line) and "73 % less" in str(line) for line in lead.why)


def test_one_stream_that_fills_the_path_is_left_alone():
    rates = {(0, 1): 870, (0, 2): 930, (0, 4): 930}
    assert "tcp-best-setting" not in {draft.rule for draft in concluded(evidence_of_rates(rates, random.Random(1)))}


@pytest.mark.parametrize("name", ["processor-full", "window-capped"])
@pytest.mark.parametrize("streams", [1, 8])
def test_what_an_end_held_or_the_maxima_cut_is_no_advice_by_itself(name, streams):
    better = (0 if streams > 1 else 1 << 20, streams)
    measurements = evidence_of_rates({(0, 1): 350, better: 500}, random.Random(1))
    assert "tcp-best-setting" in {draft.rule for draft in concluded(measurements)}
    last = measurements.points[-1]
    flagged = {name: frozenset(last.trials("goodput"))}
    busy_point = dataclasses.replace(last, warnings=frozenset(flagged), flagged=flagged)
    measurements = dataclasses.replace(measurements, points=(*measurements.points[:-1], busy_point))
    assert "tcp-best-setting" not in {draft.rule for draft in concluded(measurements)}


def test_flat_rates_seldom_have_a_better_setting():
    chance, false_alarms = random.Random(5), 0
    for _world in range(200):
        rates = {(0, 1): 500, **{(window, 1): 500 for window in WINDOWS[2:]}, **{(0, count): 500 for count in (2, 4)}}
        measurements = evidence_of_rates(rates, chance, 0.08)
        false_alarms += "tcp-best-setting" in {draft.rule for draft in concluded(measurements)}
    assert false_alarms <= 10
