"""MPI: affinity, distance, contention, the port's bound, and what a parallel program's I/O gains by its settings."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.mpi import affinity, bounds, buffers, choices, contention, hops, ranks
from apps.bench.rules.runner import Rule, conclude_all

WHOLE = (
    *(Rule(rule.RULE, rule.VERSION, rule.conclude) for rule in (affinity, hops, bounds, contention)),
    *choices.RULES,
    *(Rule(rule.RULE, rule.VERSION, rule.conclude) for rule in (ranks, buffers)),
)


def overview(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries."""
    return conclude_all(WHOLE, evidence)
