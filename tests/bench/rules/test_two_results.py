"""Two experiments that measured one setting with two results: both are told with when, and neither is enough."""

import pytest

from apps.bench.rules import ask_ends
from apps.bench.rules.base import DOUBT, NO_CHANGE
from apps.bench.rules.runner import drafts_of
from tests import sayings
from tests.bench.rules.test_levels import SEEDS, findings_of, of_lengths, of_one, of_times


def texts(messages):
    return [sayings.filled(message.as_json()) for message in messages]


@pytest.mark.parametrize("seed", SEEDS)
def test_both_results_are_told_with_their_times_and_nothing_is_enough(seed):
    drawn = of_times(seed)
    drafts = drafts_of(ask_ends(drawn.evidence))
    (doubt,) = [draft for draft in drafts if draft.rule == "path-levels"]
    assert doubt.kind == DOUBT
    assert doubt.low == pytest.approx(min(drawn.now, drawn.other), rel=0.08)
    assert doubt.high == pytest.approx(max(drawn.now, drawn.other), rel=0.08)
    assert any("1970-01-01 00:16 UTC" in line and "1970-01-01 00:33 UTC" in line for line in texts(doubt.why))
    assert not [draft.title for draft in drafts if draft.kind == NO_CHANGE]
    assert all(draft.confidence <= 0.5 for draft in drafts if draft.present or draft.tried)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_confirms_the_capacity_is_said_to_be_of_the_other_time(seed):
    drawn = of_times(seed)
    for draft in drafts_of(ask_ends(drawn.evidence)):
        sentences = texts((*draft.why, *draft.against))
        assert not any("left out" in line for line in sentences)
        confirmed = [line for line in sentences if "confirmed by" in line]
        assert all(("that a later one contradicts" in line) == (drawn.now < drawn.other) for line in confirmed), (
            sentences
        )


@pytest.mark.parametrize("draw", [of_lengths, of_one])
def test_runs_of_other_lengths_and_equal_results_are_no_two_results(draw):
    doubted = [
        seed for seed in SEEDS if any(draft.rule == "path-levels" for draft in findings_of(draw(seed).evidence))
    ]
    assert len(doubted) <= len(SEEDS) // 20, doubted
