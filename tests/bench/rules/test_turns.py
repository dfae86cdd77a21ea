"""Settings compared across experiments: whatever rule compares them says so, less sure, and asks for both in turn."""

import dataclasses
import functools
import itertools

import pytest

from apps.bench import tools
from apps.bench.rules import of_ends, of_whole
from apps.bench.rules.base import DOUBT, RECOMMENDATION, Evidence
from apps.bench.rules.runner import conclude_all
from apps.bench.rules.turns import MOST, NOT_IN_TURN
from tests.bench.rules.sweeping import SWEEPS, evidence_of
from tests.rotation import part_of

# One process asks once for all tests.
pytestmark = pytest.mark.xdist_group("turns")

# Of four seeds each makes other curves: some of each.
SEEDS = part_of(range(12), parts=3)
KINDS = [pytest.param(family, sweep, id=f"{family}-{place}")
         for family, sweeps in SWEEPS.items() for place, sweep in enumerate(sweeps)]  # fmt: skip
# Rules whose findings weigh settings of a sweep against each other: each is seen to say it.
COMPARING = {"tcp-streams", "tcp-window-knee", "tcp-congestion", "gridftp-parallel", "storage-record-size"}


def measured(evidence: Evidence, experiment_of) -> Evidence:
    """Return evidence whose points, in their order, are of the experiments that a function gives each."""
    points = [dataclasses.replace(point, experiment=experiment_of(place), at=1000.0 * experiment_of(place))
              for place, point in enumerate(evidence.points)]  # fmt: skip
    return dataclasses.replace(evidence, points=tuple(points))


def in_turn(evidence: Evidence) -> Evidence:
    """Return evidence whose trials are numbered as blocks of repetitions are carried out, each of all points."""
    points = []
    for place, point in enumerate(evidence.points):
        trials = sorted({trial for own in point.metrics.values() for trial in own})
        turns = {trial: len(evidence.points) * turn + place + 1 for turn, trial in enumerate(trials)}
        metrics = {name: {turns[t]: value for t, value in own.items()} for name, own in point.metrics.items()}
        flagged = {name: frozenset(turns[t] for t in own if t in turns) for name, own in point.flagged.items()}
        points.append(dataclasses.replace(point, metrics=metrics, flagged=flagged))
    return dataclasses.replace(evidence, points=tuple(points))


def findings_of(evidence):
    return conclude_all((*of_ends(), *of_whole()), evidence)


@functools.cache
def findings_apart(sweep, seed):
    """Return the evidence of a sweep of which each setting has an experiment of its own, and its findings."""
    evidence = measured(evidence_of(sweep, seed), lambda place: place + 1)
    return evidence, findings_of(evidence)


def says_so(draft):
    return any(limit.msgid == NOT_IN_TURN for limit in draft.limits)


def settings_of(draft, evidence):
    """Return the settings that a finding rests on, or compares, by their experiments."""
    trials = {*draft.evidence}
    points = [point for point in evidence.points if any(trials & {*own} for own in point.metrics.values())]
    return {(point.tool, repr(sorted(point.parameters.items(), key=str))): point.experiment for point in points}


@pytest.mark.parametrize(("family", "sweep"), KINDS)
def test_what_no_experiment_measured_in_turn_is_said_and_doubted(family, sweep):
    for seed in SEEDS:
        evidence, drafts = findings_apart(sweep, seed)
        for draft in drafts:
            if draft.kind == DOUBT or len(settings_of(draft, evidence)) < 2:
                continue
            assert says_so(draft), (seed, draft.rule, draft.title)
            assert draft.confidence <= MOST
            for proposal in draft.proposals:
                own = {item.name: item for item in tools.get(proposal.tool).parameters}
                for name, text in proposal.factors.items():
                    assert "." in name or [own[name].clean(value) for value in text.split(", ")]


@pytest.mark.parametrize(("family", "sweep"), KINDS)
def test_what_one_experiment_measured_in_turn_is_said_as_it_is(family, sweep):
    for seed in SEEDS:
        evidence = in_turn(measured(evidence_of(sweep, seed), lambda _place: 1))
        assert not [draft.rule for draft in findings_of(evidence) if says_so(draft)]


@pytest.mark.parametrize(("family", "sweep"), KINDS)
def test_what_one_experiment_measured_one_after_another_is_doubted(family, sweep):
    """All repetitions of a setting before those of the next: a drift meanwhile is the setting's, too."""
    for seed in SEEDS:
        evidence = measured(evidence_of(sweep, seed), lambda _place: 1)
        spans = [sorted({t for own in point.metrics.values() for t in own}) for point in evidence.points]
        if min(map(len, spans)) < 2 or any(own[-1] >= later[0] for own, later in itertools.pairwise(sorted(spans))):
            continue
        for draft in findings_of(evidence):
            if draft.kind == DOUBT or draft.rule not in COMPARING or len(settings_of(draft, evidence)) < 2:
                continue
            assert says_so(draft), (seed, draft.rule, draft.title)
            assert draft.confidence <= MOST


def test_every_rule_that_compares_settings_is_seen_to_say_it():
    seen, proposing = set(), set()
    for sweeps in SWEEPS.values():
        for sweep in sweeps:
            for seed in SEEDS:
                _evidence, drafts = findings_apart(sweep, seed)
                seen |= {draft.rule for draft in drafts if says_so(draft)}
                proposing |= {draft.rule for draft in drafts if says_so(draft) and draft.proposals
                              and draft.kind == RECOMMENDATION}  # fmt: skip
    assert seen >= COMPARING, sorted(COMPARING - seen)
    assert proposing
