"""The path itself: its capacity by several means against its links, the bottleneck, the interfaces, and the route."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.path import bottleneck, capacity, interfaces, loss, route

RULES = (capacity.conclude, bottleneck.conclude, loss.conclude, interfaces.conclude, route.conclude)


def findings(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries; a rule without sound evidence is silent."""
    drafts = [conclude(evidence) for conclude in RULES]
    return [draft for draft in drafts if draft is not None]
