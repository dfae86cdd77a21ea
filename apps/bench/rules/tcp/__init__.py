"""TCP over one path: its bandwidth-delay product, the window and the streams it needs, and the kernel's limits."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.tcp import bdp, limits, streams, window


def findings(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries; a rule without sound evidence is silent."""
    drafts = [rule.conclude(evidence) for rule in (bdp, window, streams, limits)]
    return [draft for draft in drafts if draft is not None]
