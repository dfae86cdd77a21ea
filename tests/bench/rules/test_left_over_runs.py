"""What rests on runs that are left of a setting says so and is not sure; no advice has a mean of two modes."""

import dataclasses
import itertools

import pytest

from apps.bench.rules import ask_ends, folding, pace
from apps.bench.rules.base import DIAGNOSIS, DOUBT, NO_CHANGE, PathFacts
from apps.bench.rules.runner import drafts_of
from tests import sayings
from tests.bench.rules.cases import Maker, evidence

PATH, RTT = PathFacts(1_000_000_000, 0.02, 1500), 0.02
WINDOWS, STREAMS = (262144, 1048576, 4194304), (2, 4, 8)
PASSING = sorted(pace.DISTURBED)


def measured(repetitions, slow, flag, factor):
    """Return a sweep of windows or streams of which so many automatic runs had half the rate, flagged or not."""
    make = Maker()
    rates = [940e6 * (1 + 0.004 * turn) if turn >= slow else 450e6 + 1e6 * turn for turn in range(repetitions)]
    point = make.tcp(rates, rtt=RTT, observed=4e6)
    if flag:
        flagged = frozenset(point.trials("goodput")[:slow])
        point = dataclasses.replace(point, flagged={flag: flagged}, warnings=frozenset({flag}))
    points = [make.ping(RTT, RTT), point]
    if factor == "window":
        for window in WINDOWS:
            rate = min(900e6, window * 8 / RTT * 0.95)
            rates = [rate * part for part in (0.99, 1.0, 1.01)]
            points.append(make.tcp(rates, window=window, rtt=RTT, observed=window))
    else:
        points += [make.tcp([945e6 * part for part in (0.99, 1.0, 1.01)], streams=n, rtt=RTT) for n in STREAMS]
    return evidence(points, PATH), point


def findings_of(measurements):
    findings = folding.fold_ends(drafts_of(ask_ends(measurements)), measurements)
    return [item for draft in findings for item in (draft, *draft.parts)]


@pytest.mark.parametrize(("flag", "factor"), [*itertools.product(PASSING, ("window", "streams"))])
def test_what_rests_on_runs_that_are_left_over_says_so_and_is_not_sure(flag, factor):
    for repetitions, slow in ((3, 2), (3, 1), (5, 2)):
        measurements, point = measured(repetitions, slow, flag, factor)
        free = pace.undisturbed(point)
        rate, trials = free.mean("goodput"), {*free.trials("goodput")}
        resting = [
            draft for draft in findings_of(measurements)
            if draft.rule != "path-modes"
            and (draft.present == rate or (trials & {*draft.evidence} and free is not point))
        ]  # fmt: skip
        assert resting
        (doubt,) = [draft for draft in findings_of(measurements) if draft.rule == "path-modes"]
        assert (doubt.subject, doubt.kind) == ("held-up", DOUBT)
        assert f"{slow} of {repetitions} runs" in sayings.filled(doubt.title.as_json())
        for draft in resting:
            assert draft.confidence <= (0.5 if repetitions - slow < 2 else 0.7), (draft.rule, draft.confidence)
            objections = [sayings.filled(line.as_json()) for line in draft.against]
            assert any(f"{slow} of {repetitions} runs" in line and flag in line for line in objections), (
                draft.rule,
                objections,
            )


@pytest.mark.parametrize("flag", ["", "client-busy", "suspect-foreign-traffic"])
@pytest.mark.parametrize("factor", ["window", "streams"])
def test_no_mean_of_two_modes_is_what_there_is(flag, factor):
    measurements, point = measured(3, 2, flag, factor)
    findings = findings_of(measurements)
    assert any(draft.rule == "path-modes" for draft in findings)
    mean = point.mean("goodput")
    assert not [draft.title for draft in findings if mean in (draft.present, draft.tried) or "608" in str(draft.why)]


@pytest.mark.parametrize(("flag", "factor"), [*itertools.product(PASSING, ("window", "streams"))])
def test_what_one_run_of_several_tells_is_called_that(flag, factor):
    told = 0
    for repetitions, slow in ((3, 2), (5, 4), (3, 1), (3, 0)):
        measurements, point = measured(repetitions, slow, flag if slow else "", factor)
        rate = pace.undisturbed(point).mean("goodput")
        speaking = [
            draft for draft in findings_of(measurements)
            if rate in (draft.present, draft.tried, draft.value) and draft.kind in (NO_CHANGE, DIAGNOSIS, DOUBT)
        ]  # fmt: skip
        titles = [sayings.filled(draft.title.as_json()) for draft in speaking]
        is_lone = repetitions - slow == 1
        assert all((f"One of {repetitions} runs" in title and flag in title) == is_lone for title in titles), titles
        assert not is_lone or not [draft.title for draft in speaking if draft.kind == NO_CHANGE]
        told += is_lone and any(draft.rule == "tcp-limit" for draft in speaking)
    assert told == 2
