"""What limits a file system where that cannot be told: why not, and what would decide."""

from collections.abc import Sequence

from apps.bench.rules.base import DOUBT, Evidence, FindingDraft
from apps.bench.rules.layers.gaps import gaps
from apps.bench.rules.layers.limit import APPLIES, SOURCE, against, beneath, formula_of
from apps.bench.rules.layers.titles import say
from apps.bench.rules.layers.verdicts import Verdict
from apps.bench.text import Message

RULE, VERSION = "undecided-layer", 9
# What is not told stands behind what is.
CONFIDENCE = 0.5


def conclude(evidence: Evidence, verdict: Verdict) -> FindingDraft | None:
    """Return what is not decided of one rate; None where a layer is named, a cache was measured, or nothing beneath.

    Of a file system beneath which neither links nor disks are known nobody set out to tell its layers apart.
    """
    is_beneath = bool(verdict.network or verdict.disk or verdict.apart or verdict.unlike)
    if verdict.layer or verdict.level in verdict.cached or not is_beneath:
        return None
    level, still = verdict.level, gaps(evidence, verdict)
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        subject=verdict.question.subject[:200],
        title=say(verdict, evidence),
        why=tuple(beneath(verdict)),
        against=tuple(against(verdict)),
        value=level.value,
        unit="B/s",
        low=level.interval[0] if level.interval else None,
        high=level.interval[1] if level.interval else None,
        formula=formula_of(verdict),
        evidence=verdict.trials,
        confidence=CONFIDENCE,
        applies_when=Message(APPLIES),
        source=SOURCE,
        missing=tuple(message for message, _proposal in still),
        proposals=tuple(proposal for _message, proposal in still if proposal),
    )


def conclude_all(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return what is not decided of all verdicts."""
    drafts = [conclude(evidence, verdict) for verdict in verdicts]
    return [draft for draft in drafts if draft]
