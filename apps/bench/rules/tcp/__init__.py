"""TCP over one path: its bandwidth-delay product, what limits it, the window and streams it needs, and the kernel."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.tcp import bdp, limits, streams, verdict, window

RULES = (bdp, verdict, window, streams, limits)


def findings(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries; a rule without sound evidence is silent."""
    drafts = [rule.conclude(evidence) for rule in RULES]
    return [draft for draft in drafts if draft is not None]
