"""How far a finding may be trusted whose figures judges doubted."""

from dataclasses import replace

from apps.bench.rules import pace
from apps.bench.rules.base import DOUBT, Evidence, FindingDraft
from apps.bench.text import Message, _

# A doubted figure is none of what was asked. That an end was at its limit is no such doubt: it is evidence itself.
NO_MEASURE = pace.DOUBTED - pace.DISTURBED
# So sure a finding is at most of which every figure is doubted.
MOST = 0.5


def weigh(draft: FindingDraft, evidence: Evidence) -> FindingDraft:
    """Return a finding as sure as its figures let it be: where all of them are doubted it says so."""
    if draft.kind == DOUBT:
        return draft
    known: set[int] = set()
    doubts: dict[str, set[int]] = {}
    for point in evidence.points:
        for metric in [draft.proof.metric] if draft.proof else list(point.metrics):
            own = set(draft.evidence) & set(point.metrics.get(metric, ()))
            known |= own
            for name in NO_MEASURE & point.flagged.keys():
                if metric in point.bears.get(name, (metric,)):
                    doubts.setdefault(name, set()).update(own & point.flagged[name])
    flagged = {name: trials for name, trials in doubts.items() if trials}
    if not known or known - set().union(*flagged.values()):
        return draft
    text = _("Each of its %(count)s figures is flagged: %(flags)s.")
    shown = {"count": len(known), "flags": ", ".join(sorted(flagged))}
    return replace(draft, confidence=min(draft.confidence, MOST), against=(*draft.against, Message(text, shown)))
