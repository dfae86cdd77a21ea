"""A sweep is read whole: no value is advised for being the first, and no order of the evidence changes a word."""

import dataclasses
import operator
import random

import pytest

from apps.bench import rules
from apps.bench.rules.runner import ask, drafts_of, failures_of
from tests.bench.rules import sweeping

SEEDS = range(8)
# What names a cause, of one stream as it is now, advises no setting; what names all options is of these together.
CAUSES, WHOLE = {"tcp-limit"}, {"gridftp-options"}
FAMILIES = {
    family.__name__.rpartition(".")[2]: family
    for family in rules.families()
    if getattr(family, "ENDS", ()) or getattr(family, "WHOLE", ())
}
CASES = [
    pytest.param(name, sweep, id=f"{name}-{number}-{'-'.join(sweep.factors)}")
    for name, sweeps in sweeping.SWEEPS.items()
    for number, sweep in enumerate(sweeps)
]


def said(name, evidence):
    family = FAMILIES[name]
    answers = ask((*getattr(family, "ENDS", ()), *getattr(family, "WHOLE", ())), evidence)
    assert failures_of(answers) == []
    return drafts_of(answers)


def sentences(drafts):
    return sorted(
        (
            draft.rule,
            draft.subject,
            draft.kind,
            str(draft.title),
            draft.change,
            *map(str, (*draft.why, *draft.against)),
        )
        for draft in drafts
    )


def test_every_family_has_sweeps():
    assert FAMILIES.keys() == sweeping.SWEEPS.keys()


@pytest.mark.parametrize(("name", "sweep"), CASES)
def test_the_order_of_the_evidence_changes_nothing(name, sweep):
    for seed in SEEDS:
        evidence = sweeping.evidence_of(sweep, seed)
        points, source = list(evidence.points), random.Random(seed)
        for _time in range(3):
            source.shuffle(points)
            for turned in (points, points[::-1]):
                other = dataclasses.replace(evidence, points=tuple(turned))
                # Of the same points in the same order nothing else can be concluded: that need not be asked.
                if not all(map(operator.is_, other.points, evidence.points)):
                    assert sentences(said(name, other)) == sentences(said(name, evidence))


@pytest.mark.parametrize(("name", "sweep"), CASES)
def test_no_advised_setting_is_surely_worse_than_another_that_was_measured(name, sweep):
    factor, other = sweep.factors
    for seed in SEEDS:
        evidence = sweeping.evidence_of(sweep, seed)
        for draft in said(name, evidence):
            proof = draft.proof
            if (
                draft.rule in CAUSES
                or not proof
                or proof.now.get(factor) == proof.then.get(factor)
                or proof.metric != sweep.metric
            ):
                continue
            advised = proof.then[factor]
            groups = list(sweeping.groups_of(sweep, evidence))
            own_value = next((own[other] for own, _cells, trials in groups if {*draft.evidence} <= trials), "")
            # A number of ranks is written as programs take it.
            is_named = other in str(draft.title) or f"{own_value}" in str(draft.title).split()
            for circumstances, cells, trials in groups:
                is_other = draft.rule in WHOLE and circumstances[other] != proof.then.get(other)
                if advised not in cells or is_other:
                    continue
                better = [
                    value for value in cells if sweeping.is_surely_worse(cells[advised], cells[value], sweep.metric)
                ]
                is_told = is_named and not {*draft.evidence} <= trials
                assert not better or is_told, f"seed {seed}: {draft.title}: {better} is better with {circumstances}"
