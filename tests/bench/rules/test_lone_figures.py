"""Settings of which each was measured once decide nothing: what compares them says n = 1."""

import dataclasses

import pytest

from apps.bench.rules import ask_ends, ask_whole, runner
from apps.bench.rules.base import DOUBT, NO_CHANGE, RECOMMENDATION
from apps.bench.rules.shapes.apart import PRINTED
from tests.bench.rules import null_worlds

GAINS, RECORDS = (1.0, 1.2, 2.0, 4.0), "storage-record-size"


def compares(draft, evidence):
    trials = {*draft.trials}
    return sum(any(trials & {*cell} for cell in point.metrics.values()) for point in evidence.points) > 1


def drafts_of(evidence):
    drafts = runner.drafts_of([*ask_ends(evidence), *ask_whole(evidence)])
    return [draft for draft in drafts if compares(draft, evidence)]


def decided(drafts):
    """Return the rules that decide on lone figures."""
    return {
        draft.rule
        for draft in drafts
        if draft.kind == NO_CHANGE or (draft.kind == RECOMMENDATION and draft.confidence > 0.5)
        if "n = 1" not in f"{draft.title} {draft.why[0]}"
    }


@pytest.mark.parametrize("world", [*null_worlds.OF_ENDS, *null_worlds.OF_WHOLE], ids=lambda world: world.__name__)
@pytest.mark.parametrize("gain", GAINS)
def test_nothing_is_decided_by_lone_figures(world, gain):
    for cv in (0.0, 0.02, 0.1):
        assert not decided(drafts_of(world(null_worlds.Draw(0, cv, 1), gain))), cv


def test_a_printed_figure_is_a_mean_of_as_many_runs_as_its_publication_had():
    evidence = null_worlds.records(null_worlds.Draw(0, 0.0, 1), 1.0)
    printed = [dataclasses.replace(point, observed={PRINTED: {}}) for point in evidence.points]
    lone, published = (
        [draft for draft in drafts_of(dataclasses.replace(evidence, points=tuple(points))) if draft.rule == RECORDS]
        for points in (evidence.points, printed)
    )
    assert {draft.kind for draft in published} == {NO_CHANGE}
    assert {draft.kind for draft in lone} == {DOUBT}
    for draft in lone:
        assert draft.confidence_label == "low"
        assert "three times or more" in str(draft.missing[-1])
        assert draft.proposals[-1].is_repetition


@pytest.mark.parametrize("world", null_worlds.OF_WHOLE, ids=lambda world: world.__name__)
@pytest.mark.parametrize("gain", GAINS)
def test_what_was_measured_twice_is_told_as_it_was(world, gain):
    for draft in drafts_of(world(null_worlds.Draw(0, 0.0, 2), gain)):
        assert "n = 1" not in str(draft.title)
