"""How far a finding may be trusted whose figures judges doubted, or left little of."""

from collections.abc import Mapping
from dataclasses import replace

from apps.bench.rules import bearing, lone, pace, silences
from apps.bench.rules.base import DIAGNOSIS, DOUBT, NO_CHANGE, Evidence, FindingDraft, Point
from apps.bench.text import Message, _

# A doubted figure is none of what was asked. That an end was at its limit is no such doubt: it is evidence itself.
NO_MEASURE = pace.DOUBTED - pace.DISTURBED
# So sure a finding is at most of which every figure is doubted, or that rests on a single run that others were left
# out beside; and one that rests on several such.
MOST, MOST_OF_REST = 0.5, 0.7


def weigh(draft: FindingDraft, evidence: Evidence) -> FindingDraft:
    """Return a finding as sure as its figures let it be: where all are doubted, or some left out, it says so."""
    if draft.kind == DOUBT:
        return draft
    rest = silences.moving(evidence)
    return _of_silence(lone.weigh(_of_rest(_of_doubted(draft, rest), rest), rest), evidence)


def _of_silence(draft: FindingDraft, evidence: Evidence) -> FindingDraft:
    """Return a finding; where nothing moved in some runs on a file system that it rests on it says so."""
    against = silences.said_of(draft, evidence)
    if not against:
        return draft
    return replace(draft, confidence=min(draft.confidence, MOST), against=(*draft.against, *against))


def _of_doubted(draft: FindingDraft, evidence: Evidence) -> FindingDraft:
    """Return a finding; where judges doubted each of its figures it says so."""
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


def _of_rest(draft: FindingDraft, evidence: Evidence) -> FindingDraft:
    """Return a finding; where it rests on what is left of a setting whose other runs were held up it says so."""
    rests = [
        (len(own), len(held_trials), sorted(pace.DISTURBED & point.flagged.keys()), _is_mean(draft, own))
        for point in evidence.points
        if pace.DISTURBED & point.flagged.keys()
        for metric in sorted(_metrics_of(draft) & point.metrics.keys() or point.metrics.keys())
        for own, held_trials in [_left_of(point, metric)]
        if held_trials and _rests_on(draft, own, held_trials)
    ]
    if not rests:
        return draft
    count, left_out, flags, _is_rate = min(rests, key=lambda rest: (rest[0], not rest[3]))
    text = _(
        "%(left)s of %(all)s runs of a setting it rests on were held up (%(flags)s) and do not count: n = %(n)s."
    )
    params = {"left": left_out, "all": count + left_out, "flags": ", ".join(flags), "n": count}
    weighed = replace(
        draft,
        confidence=min(draft.confidence, MOST if count < 2 else MOST_OF_REST),
        against=(*draft.against, Message(text, params)),
    )
    return _of_one(weighed, params) if any(rest[3] and rest[0] < 2 for rest in rests) else weighed


def _of_one(draft: FindingDraft, params: Mapping[str, object]) -> FindingDraft:
    """Return a finding that says how things are by one run of several as what that is: not enough to tell.

    What calls for no change is a doubt then: nobody knows that there is none to be made.
    """
    if draft.kind not in (NO_CHANGE, DIAGNOSIS):
        return draft
    text = _("One of %(all)s runs, and the others were held up (%(flags)s): not enough to tell. %(title)s")
    kind = DOUBT if draft.kind == NO_CHANGE else draft.kind
    return replace(draft, kind=kind, title=Message(text, {**params, "title": draft.title.as_json()}))


def _left_of(point: Point, metric: str) -> tuple[Mapping[int, float], frozenset[int]]:
    """Return {trial: value} of what counts of a point, and the trials that were held up."""
    free = pace.undisturbed(point, metric)
    return free.metrics.get(metric, {}), free.flagged.get(pace.LEFT_OUT, frozenset())


def _rests_on(draft: FindingDraft, own: Mapping[int, float], held_trials: frozenset[int]) -> bool:
    """Return whether a finding rests on what is left of a point, or has its mean as what there is."""
    trials = {*draft.trials}
    return _is_mean(draft, own) or (not trials.isdisjoint(own) and trials.isdisjoint(held_trials))


def _is_mean(draft: FindingDraft, own: Mapping[int, float]) -> bool:
    """Return whether the mean of some runs is the rate that a finding speaks of."""
    return bool(own) and sum(own.values()) / len(own) in (draft.present, draft.tried, draft.value)


def _metrics_of(draft: FindingDraft) -> frozenset[str]:
    """Return the metrics that a finding rests on, none where all that was measured bears on it."""
    if draft.proof:
        return frozenset({draft.proof.metric})
    figures = [draft.title.params, *(line.params for line in draft.why)]
    return bearing.metrics_of(draft.rule, bearing.named_in(figures))
