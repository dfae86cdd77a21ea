"""MPI: placement and affinity, contention, and a parallel program's I/O by ranks, placement, blocks and buffers."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.mpi import affinity, buffers, choices, contention, ranks


def overview(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries."""
    return [draft for rule in (affinity, contention, choices, ranks, buffers) for draft in rule.conclude(evidence)]
