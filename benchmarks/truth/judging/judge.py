"""Which judge a statement goes to."""

from benchmarks.truth.asking import FINDING, Statement
from benchmarks.truth.judging import advice, messages, path, storage, tcp
from benchmarks.truth.judging.base import Case, Judgement, undecided
from benchmarks.truth.storing import Stored
from benchmarks.truth.worlds.base import World

BY_FAMILY = {
    "network": {**tcp.RULES, **path.RULES},
    "storage": storage.RULES,
    "messages": messages.RULES,
}


def judge(world: World, stored: Stored, statement: Statement) -> Judgement:
    """Return what is true of a statement in its world."""
    case = Case(world, stored, statement)
    rule = BY_FAMILY[world.family].get(statement.rule)
    if rule is None:
        return undecided("no judge knows this rule")
    claim = rule(case)
    if statement.source == FINDING and world.family == "network":
        return advice.worse(claim, advice.judge_network(case))
    return claim
