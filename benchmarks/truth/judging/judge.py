"""Which judge a statement goes to."""

from benchmarks.truth import figures as drawn
from benchmarks.truth import panels
from benchmarks.truth.judging import advice, figures, messages, path, storage, tcp
from benchmarks.truth.judging.base import Case, Judge, Judgement, undecided
from benchmarks.truth.statements import FINDING, Statement
from benchmarks.truth.store import Stored
from benchmarks.truth.worlds.base import World

BY_FAMILY = {
    "network": {**tcp.RULES, **path.RULES},
    "storage": storage.RULES,
    "messages": messages.RULES,
}
BY_SOURCE = {drawn.SENTENCE: figures.SENTENCES, drawn.CONTRAST: figures.CONTRASTS, panels.UDP: figures.UDP}


def judge(world: World, stored: Stored, statement: Statement) -> Judgement:
    """Return what is true of a statement in its world."""
    case = Case(world, stored, statement)
    rule = _judge_of(world, statement)
    if rule is None:
        return undecided("no judge knows this")
    claim = rule(case)
    if statement.source == FINDING and world.family == "network":
        return advice.worse(claim, advice.judge_network(case))
    return claim


def _judge_of(world: World, statement: Statement) -> Judge | None:
    if statement.source == panels.PREDICTION:
        return figures.prediction
    rules = BY_SOURCE.get(statement.source) or BY_FAMILY[world.family]
    return rules.get(statement.rule)
