"""GridFTP: the options that move most, as one command line, and what parallel streams gain over one."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.gridftp import options, parallel
from apps.bench.rules.runner import Rule, conclude_all
from apps.bench.rules.tcp import contradictions, rivals

ENDS = tuple(
    Rule(rule.RULE, rule.VERSION, contradictions.weighed(rivals.with_loss_beside(rule.conclude)))
    for rule in (options, parallel)
)


def findings(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries; a rule without sound evidence is silent."""
    return conclude_all(ENDS, evidence)
