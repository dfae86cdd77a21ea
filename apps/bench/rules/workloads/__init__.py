"""Workloads: which configuration serves a described one and what it will get, and for whom a file system is fit."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.layers import judge_all
from apps.bench.rules.runner import Rule, conclude_all
from apps.bench.rules.workloads import best, nodes
from apps.bench.rules.workloads.described import PATTERNS, Workload
from apps.bench.rules.workloads.fits import ANSWERS, Fit, fit

__all__ = ["ANSWERS", "PATTERNS", "WHOLE", "Fit", "Workload", "fit", "overview"]

WHOLE = (
    Rule(nodes.RULE, nodes.VERSION, nodes.conclude, judge_all),
    Rule(best.RULE, best.VERSION, best.conclude, judge_all),
)


def overview(evidence: Evidence) -> list[FindingDraft]:
    """Return for whom the file systems are fit, as far as the evidence tells without a described workload."""
    return conclude_all(WHOLE, evidence)
