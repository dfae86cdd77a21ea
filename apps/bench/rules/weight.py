"""How far a finding may be trusted whose figures judges doubted."""

from dataclasses import replace

from apps.bench.rules import bearing, pace
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
    trial_ids: set[int] = set()
    doubts: dict[str, set[int]] = {}
    metrics = _metrics_of(draft)
    for point in evidence.points:
        for metric in metrics & point.metrics.keys() if metrics else point.metrics.keys():
            own = set(draft.evidence) & set(point.metrics.get(metric, ()))
            trial_ids |= own
            for name in NO_MEASURE & point.flagged.keys():
                if metric in point.bears.get(name, (metric,)):
                    doubts.setdefault(name, set()).update(own & point.flagged[name])
    flagged = {name: trials for name, trials in doubts.items() if trials}
    if not trial_ids or trial_ids - set().union(*flagged.values()):
        return draft
    text = _("Each of its %(count)s figures is flagged: %(flags)s.")
    params = {"count": len(trial_ids), "flags": ", ".join(sorted(flagged))}
    return replace(draft, confidence=min(draft.confidence, MOST), against=(*draft.against, Message(text, params)))


def _metrics_of(draft: FindingDraft) -> frozenset[str]:
    """Return the metrics that a finding rests on, none where all that was measured bears on it."""
    if draft.proof:
        return frozenset({draft.proof.metric})
    figures = [draft.title.params, *(line.params for line in draft.why)]
    return bearing.metrics_of(draft.rule, bearing.named_in(figures))
