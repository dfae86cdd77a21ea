"""Storage: record size, clients, what a file system costs, its connections and mount options, and caches."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.storage import alike, caches, clients, connections, options, records, shares


def overview(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules for every file system that was measured or of which figures are printed."""
    rules = (records, clients, shares, alike, connections, options, caches)
    return [draft for rule in rules for draft in rule.conclude(evidence)]
