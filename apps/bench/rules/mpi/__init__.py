"""MPI: affinity, distance, contention, the port's bound, and what a parallel program's I/O gains by its settings."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.mpi import affinity, bounds, buffers, choices, contention, hops, ranks


def overview(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries."""
    rules = affinity, hops, bounds, contention, choices, ranks, buffers
    return [draft for rule in rules for draft in rule.conclude(evidence)]
