"""Workloads: which configuration serves a described one and what it will get, and for whom a file system is fit."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.workloads import nodes
from apps.bench.rules.workloads.described import PATTERNS, Workload
from apps.bench.rules.workloads.fits import Fit, fit

__all__ = ["PATTERNS", "Fit", "Workload", "fit", "overview"]


def overview(evidence: Evidence) -> list[FindingDraft]:
    """Return for whom the file systems are fit, as far as the evidence tells without a described workload."""
    return nodes.conclude(evidence)
