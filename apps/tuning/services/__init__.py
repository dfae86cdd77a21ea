"""Writes of findings, each one function; see the modules."""

from apps.tuning.services.decisions import FindingNeedsReason, NotForPeople, decide_finding
from apps.tuning.services.findings import draw_conclusions, refresh_findings
from apps.tuning.services.verification import continue_verification, judge_verification, verify_finding

__all__ = [
    "FindingNeedsReason",
    "NotForPeople",
    "continue_verification",
    "decide_finding",
    "draw_conclusions",
    "judge_verification",
    "refresh_findings",
    "verify_finding",
]
