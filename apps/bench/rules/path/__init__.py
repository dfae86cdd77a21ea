"""The path itself: its capacity by several means against its links, the bottleneck, the interfaces, and the route."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.path import (
    bottleneck,
    capacity,
    datagrams,
    directions,
    interfaces,
    levels,
    loss,
    modes,
    route,
    silence,
)
from apps.bench.rules.runner import Rule, conclude_all
from apps.bench.rules.tcp import contradictions

ENDS = tuple(
    Rule(rule.RULE, rule.VERSION, contradictions.weighed(rule.conclude))
    for rule in (capacity, bottleneck, loss, datagrams, modes, levels, directions, interfaces, route, silence)
)


def findings(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries; a rule without sound evidence is silent."""
    return conclude_all(ENDS, evidence)
