"""Storage: record size, clients, what a file system costs, its connections and mount options, and caches."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.layers import judge_all
from apps.bench.rules.storage import alike, caches, clients, connections, options, pools, records, shares


def overview(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules for every file system that was measured or of which figures are printed."""
    verdicts = judge_all(evidence)
    drafts = [draft for rule in (records, clients, alike, caches) for draft in rule.conclude(evidence)]
    return drafts + [
        draft for rule in (shares, connections, options, pools) for draft in rule.conclude(evidence, verdicts)
    ]
