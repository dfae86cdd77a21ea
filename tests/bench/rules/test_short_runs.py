"""A run of few RTTs, or of a rate that still changes, may be slow start: whatever rests on its rate says so."""

import dataclasses

import pytest

from apps.bench import rules
from apps.bench.rules import base, folding, pace, runner
from apps.bench.rules.base import PathFacts
from tests.bench.rules.cases import Maker, evidence

RTT = 0.2
LONG = PathFacts(1e9, RTT, 1500)
SWITCH = {"net.ipv4.tcp_window_scaling": "1", "net.ipv4.tcp_rmem": "4096 131072 6291456"}
# Rates (Mbit/s) of a window that is short, of streams that multiply, of loss, and of nothing that tells.
WORLDS = {
    "window": lambda make, **more: [
        make.tcp([100e6, 101e6], observed=2.55e6, rtt=RTT, **more),
        make.tcp([400e6, 401e6], window=2**24, observed=1e7, rtt=RTT, **more),
    ],
    "streams": lambda make, **more: [
        make.tcp([60e6 * count, 60.5e6 * count], streams=count, observed=5e7, rtt=RTT, **more)
        for count in (1, 2, 4, 8)
    ],
    "nothing": lambda make, **more: [make.tcp([300e6, 302e6], observed=5e7, rtt=RTT, **more)],
}


def drafts_of(world, *, is_steady=True, **more):
    make = Maker()
    points = WORLDS[world](make, **more)
    if not is_steady:
        points = [
            dataclasses.replace(
                point,
                warnings=frozenset({pace.NOT_STEADY}),
                flagged={pace.NOT_STEADY: frozenset(point.trials("goodput"))},
            )
            for point in points
        ]
    measured = evidence([make.ping(RTT, RTT), *points], LONG, client=SWITCH, server=SWITCH)
    return folding.fold_ends(runner.conclude_all(rules.of_ends(), measured), measured)


def on_rates(drafts):
    """Return the findings that say something of the rate that was had."""
    return [
        draft
        for draft in drafts
        if draft.present or draft.tried or (draft.kind == base.DOUBT and draft.unit == "bit/s")
    ]


def says(draft, words):
    return any(words in str(message) for message in draft.against)


def starts_first(draft):
    """Return whether slow start is the first cause, and a longer run the first experiment."""
    causes = [str(item.title) for item in draft.alternatives[:1]]
    return causes[:1] != [] and "Slow start" in causes[0] and "duration" in draft.proposals[0].factors


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("duration", "omit"), [(2, 0), (9, 0), (4, 5), (10, 0), (10, 60), (120, 0)])
def test_whatever_rests_on_a_short_run_says_so(world, duration, omit):
    drafts = on_rates(drafts_of(world, duration=duration, omit=omit))
    assert drafts
    is_short = duration + omit < 50 * RTT
    assert {says(draft, "slow start") for draft in drafts} == {is_short}, [draft.rule for draft in drafts]
    firsts = [draft for draft in drafts if draft.kind != base.DOUBT]
    assert {starts_first(draft) for draft in firsts} <= {is_short}, [draft.rule for draft in firsts]
    assert not is_short or not [draft for draft in drafts if "not the path" in str(draft.title)]


@pytest.mark.parametrize("world", WORLDS)
def test_whatever_rests_on_a_rate_that_still_changes_says_so(world):
    drafts = on_rates(drafts_of(world, is_steady=False, duration=60))
    assert drafts
    assert [draft.rule for draft in drafts if not says(draft, "did not stay the same")] == []
    assert [draft.rule for draft in drafts if draft.kind != base.DOUBT and not starts_first(draft)] == []
