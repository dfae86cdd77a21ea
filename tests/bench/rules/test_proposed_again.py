"""What a finding proposes and is measured then is proposed no more, and a change that gained nothing neither."""

import dataclasses
import functools

import pytest
from hypothesis import HealthCheck, given, seed, settings

from apps.bench import rules
from apps.bench.rules import folding, runner
from apps.bench.rules.base import RECOMMENDATION
from apps.bench.rules.measured import TRIED
from tests.bench.rules import (
    measuring,
    null_worlds,
    test_contradictions,
    test_lies_beneath,
    test_lost_instead,
    test_path_rules,
    test_two_directions,
)
from tests.bench.rules import test_measured_proposals as measurements
from tests.bench.rules.cases import Maker, evidence
from tests.bench.rules.chains import chains
from tests.bench.rules.storing import MB, SERVERS, polarised
from tests.bench.rules.sweeping import SWEEPS, evidence_of
from tests.bench.rules.test_evidence_taken_away import PATHS, STORAGE
from tests.bench.rules.test_proposals import SITUATIONS
from tests.rotation import SEED, number_of, part_of

# Of each rule so many of its findings' proposals are measured in one world.
MOST = 3
DRAW = functools.partial(null_worlds.Draw, 1, 0.01, 3)


def _asked_of_ends(evidence):
    """Return the findings on one pair of ends, as told one by one and as folded, with what is told of all others."""
    answers = rules.ask_ends(evidence)
    assert runner.failures_of(answers) == []
    drafts = runner.drafts_of(answers)
    return [*drafts, *(draft for draft in folding.fold_ends(drafts, evidence) if draft.rule in OTHERS)]


def _asked_of_whole(evidence):
    answers = rules.ask_whole(evidence)
    assert runner.failures_of(answers) == []
    return runner.drafts_of(answers)


def _contradicted(name):
    return evidence(test_contradictions.measured(Maker(), name), test_contradictions.LINKS)


def _lost(world):
    name, sweep, factor, facts = world
    return test_lost_instead.evidence_of(Maker(), name, sweep, factor, "again", facts)


OTHERS = {rule.name for rule in folding.OF_OTHERS}
WORLDS = {
    **{f"proposals, {name}": (_asked_of_ends, functools.partial(make, Maker())) for name, make in SITUATIONS.items()},
    **{f"path, {name}": (_asked_of_ends, functools.partial(make, Maker())) for name, make in PATHS.items()},
    **{f"files, {name}": (_asked_of_whole, make) for name, make in STORAGE.items()},
    **{
        f"{world.__name__}, {gain}": (ask, functools.partial(world, DRAW(), gain))
        for ask, worlds in ((_asked_of_ends, null_worlds.OF_ENDS), (_asked_of_whole, null_worlds.OF_WHOLE))
        for world in worlds
        for gain in (1.0, 2.0)
    },
    **{
        f"layers, {turned}": (_asked_of_whole, functools.partial(polarised, **turned))
        for turned in ({"network": None}, {"disk": None}, {"network": (105, 105)}, {"disk": 14 * MB})
    },
    **{
        f"contradicted, {name}": (_asked_of_ends, functools.partial(_contradicted, name))
        for name in test_contradictions.NAMES
    },
    **{f"lost, {world[0]}": (_asked_of_ends, functools.partial(_lost, world)) for world in test_lost_instead.WORLDS},
    **{
        f"beneath, {kind}": (
            _asked_of_whole,
            functools.partial(test_lies_beneath.evidence, kind, SERVERS[:1], ["ARRAY_A"], ["ARRAY_A"]),
        )
        for kind in test_lies_beneath.OPTIONS
    },
    **{
        f"{sweep.tool}, {sorted(sweep.factors)}, {seed}": (ask, functools.partial(evidence_of, sweep, seed))
        for family, sweeps in SWEEPS.items()
        for ask in [_asked_of_ends if family == "tcp" else _asked_of_whole]
        for sweep in sweeps
        for seed in part_of(range(6), parts=3)
    },
    "half duplex": (_asked_of_ends, lambda: test_path_rules.interfaces(Maker(), duplex="half")),
    "another route": (
        _asked_of_ends,
        lambda: test_path_rules.sighted(Maker(), test_path_rules.ONE, test_path_rules.ONE, test_path_rules.OTHER),
    ),
    "two directions": (_asked_of_ends, lambda: test_two_directions.Pair(0).evidence(9e8, 3e8)[1]),
    "datagrams": (_asked_of_ends, lambda: measurements.cases()["datagrams"][1]),
}


def _proposals_of(draft):
    return [*draft.proposals, *(item.proposal for item in draft.alternatives if item.proposal)]


def _asks_for(draft, proposal):
    """Return whether a finding proposes an experiment as if nobody had tried it."""
    return any(
        not own.is_repetition and _words(own) == _words(proposal)
        for part in (draft, *draft.parts)
        for own in _proposals_of(part)
    )


def _words(proposal):
    return str(dataclasses.replace(proposal, is_repetition=False))


def _paired(draft):
    """Return {proposal as text: what is missing for it}, where each has its own or one is for all of them."""
    own = [_words(proposal) for proposal in draft.proposals]
    if len(own) == len(draft.missing):
        return dict(zip(own, map(str, draft.missing), strict=True))
    return {own[0]: str(draft.missing[0])} if len(own) == len(draft.missing) == 1 else {}


def _is_tried(proof, evidence):
    """Return whether a change was measured already: then it is proposed for what it gave."""
    return any(proof.then.items() <= point.parameters.items() for point in evidence.points)


def _check(ask, evidence):
    """Refuse that what is proposed is proposed again once it is measured; return how often it is told as measured."""
    counts, tried = {}, 0
    for draft in ask(evidence):
        for proposal in _proposals_of(draft):
            counts[draft.rule] = counts.get(draft.rule, 0) + 1
            if proposal.is_repetition or counts[draft.rule] > MOST:
                continue
            for outcome in measuring.OUTCOMES:
                again = ask(measuring.measured(proposal, draft, evidence, outcome))
                own = [item for item in again if item.rule == draft.rule]
                assert not [item.title for item in own if _asks_for(item, proposal)], (draft.rule, outcome, proposal)
                missing = _paired(draft).get(_words(proposal)) if proposal in draft.proposals else None
                same = [item for item in own if item.subject == draft.subject and not item.proposals]
                assert missing not in {str(line) for item in same for line in item.missing}, missing
                tried += any(item.msgid == TRIED for other in own for item in other.limits)
        if draft.kind == RECOMMENDATION and draft.proof and not _is_tried(draft.proof, evidence):
            for outcome in ("no gain", "worse"):
                again = ask(measuring.verified(draft, evidence, outcome))
                assert not [
                    item.title
                    for item in again
                    if item.kind == RECOMMENDATION and item.rule == draft.rule and item.proof == draft.proof
                ], (draft.rule, outcome)
    return tried


@pytest.mark.parametrize("name", WORLDS)
def test_measured_proposals(name):
    ask, make = WORLDS[name]
    tried = _check(ask, make())
    assert tried or name != "datagrams"


def _of_one_pair(evidence):
    """Return the points of one client and one server, as evidence of a pair of ends has them."""
    points = [point for point in evidence.points if {*point.roles.values()} <= {("c1",), ("s1",)}]
    return dataclasses.replace(evidence, points=tuple(points))


@seed(SEED)
@settings(max_examples=number_of(25), deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(chains())
def test_measured_proposals_of_any_chain(evidence):
    _check(_asked_of_ends, _of_one_pair(evidence))
    _check(_asked_of_whole, evidence)
