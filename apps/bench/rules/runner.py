"""Rules asked one by one, so that one that fails is named and takes no other's findings along."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from apps.bench import network, strict_json
from apps.bench.rules import measured, turns
from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.presence import settle
from apps.bench.rules.silences import moving
from apps.bench.rules.told import UnknownParameter, unknown_in
from apps.bench.rules.weight import weigh
from apps.bench.statistics import bounds
from apps.bench.text import Message, _

# So much of an error's text is worth reading.
LONGEST_ERROR = 300
JUMBO_MTU = 9000

# What is asked of a rule runs within this; a caller that has a clock gives one that ends what takes too long.
Guard = Callable[[], AbstractContextManager[Any]]
# What was computed once for several rules, or the error that all of them meet.
Shared = dict[tuple[Callable[[Evidence], Any], frozenset[str]], Any]
Conclusion = Iterable[FindingDraft] | FindingDraft | None


@dataclass(frozen=True)
class Rule:
    """A rule: what its findings are called, its version, and how it concludes.

    What several rules need of the same evidence, `needs` computes once for all of them; it is handed to `conclude`.
    Runs in which nothing was written or read are shown only to one that `is_of_silence`.
    """

    name: str
    version: int
    conclude: Callable[..., Conclusion]
    needs: Callable[[Evidence], Any] | None = None
    is_of_silence: bool = False


@dataclass(frozen=True)
class Failure:
    """A rule (or another part, by its name, with version 0) that failed: `error` in words, `cause` for a log."""

    rule: str
    version: int
    error: str
    cause: BaseException | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Answer:
    """What one rule said of the evidence: its findings, or how it failed.

    `untold` names the parameters that it read and that are not known, where for their sake it left all points out.
    """

    rule: Rule
    drafts: tuple[FindingDraft, ...] = ()
    failure: Failure | None = None
    untold: tuple[str, ...] = ()


def ask(rules: Iterable[Rule], evidence: Evidence, guard: Guard = nullcontext) -> list[Answer]:
    """Return the answer of each rule; one that raises, or says what cannot be stored, has failed by itself."""
    shared: Shared = {}
    return [_ask(rule, evidence, shared, guard) for rule in rules]


def conclude_all(rules: Iterable[Rule], evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of rules, and raise what any of them raises."""
    shared: Shared = {}
    return [draft for rule in rules for draft in _conclude(rule, evidence, shared)[0]]


def attempt(name: str, compute: Callable[[], Any], guard: Guard = nullcontext) -> tuple[Any, Failure | None]:
    """Return what `compute` returns and None, or None and the failure of the part of that name."""
    try:
        with guard():
            return compute(), None
    except Exception as error:
        return None, Failure(name, 0, words_of(error), error)


def drafts_of(answers: Sequence[Answer]) -> list[FindingDraft]:
    """Return all findings of the answers."""
    return [draft for answer in answers for draft in answer.drafts]


def failures_of(answers: Sequence[Answer]) -> list[Failure]:
    """Return all failures of the answers."""
    return [answer.failure for answer in answers if answer.failure]


def fingerprint(rules: Iterable[Rule]) -> str:
    """Return a text that changes when a rule comes, goes, or gets another version."""
    versions = sorted((rule.name, rule.version) for rule in rules)
    return hashlib.sha256(strict_json.dumps(versions).encode()).hexdigest()[:16]


def words_of(error: BaseException) -> str:
    """Return what an error says, in one line that can be stored, with the kind of error before it."""
    text = " ".join(str(error).replace("\0", "").encode("utf-8", "backslashreplace").decode().split())
    kind = type(error).__name__
    return (f"{kind}: {text}" if text else kind)[:LONGEST_ERROR]


def _ask(rule: Rule, evidence: Evidence, shared: Shared, guard: Guard) -> Answer:
    try:
        with guard():
            drafts, left_out = _conclude(rule, evidence, shared)
            for draft in drafts:
                # A figure that JSON does not know (infinity, no number) cannot be kept, nor sent to anybody.
                strict_json.require(draft.as_json())
        is_silent = left_out and not drafts and not _without(evidence, left_out).points
        return Answer(rule, tuple(drafts), untold=tuple(sorted(left_out)) if is_silent else ())
    except Exception as error:
        return Answer(rule, failure=Failure(rule.name, rule.version, words_of(error), error))


def _conclude(rule: Rule, evidence: Evidence, shared: Shared) -> tuple[list[FindingDraft], frozenset[str]]:
    """Return what a rule says of the points of which all is known that it reads, and what was not known of others."""
    drafts, left_out = _of_known(lambda subset, names: _drafts_of(rule, subset, names, shared), evidence)
    return [_with_unknown(draft, evidence, left_out) for draft in drafts], left_out


def of_known(compute: Callable[[Evidence], Any], evidence: Evidence) -> Any:
    """Return what is computed of the points of which all is known that is read for it."""
    return _of_known(lambda subset, _names: compute(moving(subset)), evidence)[0]


def _of_known(compute: Callable[[Evidence, frozenset[str]], Any], evidence: Evidence) -> tuple[Any, frozenset[str]]:
    """Return what is computed of evidence, and the names of what was read and is not known of some points.

    Those points are left out, and it is computed again: at most once for each name.
    """
    left_out: frozenset[str] = frozenset()
    while True:
        try:
            return compute(_without(evidence, left_out) if left_out else evidence, left_out), left_out
        except UnknownParameter as asked:
            if asked.name in left_out:
                raise
            left_out |= {asked.name}


def _drafts_of(rule: Rule, whole: Evidence, left_out: frozenset[str], shared: Shared) -> list[FindingDraft]:
    evidence = whole if rule.is_of_silence else moving(whole)
    if rule.needs is None:
        concluded = rule.conclude(evidence)
    else:
        concluded = rule.conclude(evidence, _shared_result(rule.needs, evidence, left_out, shared))
    if concluded is None:
        return []
    drafts = [concluded] if isinstance(concluded, FindingDraft) else list(concluded)
    drafts = [cut(draft, evidence) for draft in drafts]
    # Where figures contradict each other there is nothing to recommend.
    candidates = [draft for draft in drafts if not draft.is_loss and not _is_told_beside(draft, evidence)]
    settled = [measured.settle(settle(draft, evidence), evidence) for draft in candidates]
    return [turns.weigh(weigh(draft, whole), evidence) for draft in settled if draft]


def _without(evidence: Evidence, names: Collection[str]) -> Evidence:
    """Return evidence without the points of which one of these parameters is not known."""
    points = tuple(point for point in evidence.points if unknown_in(point.parameters).isdisjoint(names))
    return replace(evidence, points=points, beside=tuple(_without(item, names) for item in evidence.beside))


def _with_unknown(draft: FindingDraft, evidence: Evidence, names: Collection[str]) -> FindingDraft:
    """Return a finding that says of how many points what it reads is not known."""
    points = [point for point in evidence.points if not unknown_in(point.parameters).isdisjoint(names)]
    if not points:
        return draft
    text = _("Not known of %(count)s of the settings measured, which are left out here: %(names)s.")
    unknown_names = sorted({name for point in points for name in unknown_in(point.parameters) & {*names}})
    message = Message(text, {"count": len(points), "names": ", ".join(unknown_names)})
    return replace(draft, missing=(*draft.missing, message))


def _is_told_beside(draft: FindingDraft, evidence: Evidence) -> bool:
    """Return whether it rests only on what is no more of this way than of the other, whose findings tell it.

    What there is now, and is bettered or not, is of this way alone.
    """
    return draft.present is None and bool(draft.trials) and set(draft.trials) <= evidence.told_beside


def cut(draft: FindingDraft, evidence: Evidence) -> FindingDraft:
    """Return a finding whose prediction's interval ends at zero, and where the path as described carries no more.

    Where it would reach further that is said among its limits.
    """
    per_unit = {"bit/s": 1.0, "B/s": 8.0}.get(draft.predicted_unit)
    if not draft.predicted or not draft.predicted_interval or not per_unit or draft.predicted < 0:
        return draft
    # Where its MTU is not known the largest usual frames leave most.
    ceiling = network.tcp_ceiling_bps(evidence.path.capacity_bps, evidence.path.mtu or JUMBO_MTU)
    low, high = draft.predicted_interval
    limit = bounds.limit_of(ceiling / per_unit if ceiling else None, draft.predicted)
    interval = max(low, 0.0), high if limit is None else min(high, limit)
    if interval == (low, high):
        return draft
    message = Message(_("The predicted interval is cut where no rate can lie: below zero, or beyond the path."))
    return replace(draft, predicted_interval=interval, limits=(*draft.limits, message))


def _shared_result(
    compute: Callable[[Evidence], Any], evidence: Evidence, left_out: frozenset[str], shared: Shared
) -> Any:
    key = compute, left_out
    if key not in shared:
        try:
            shared[key] = compute(evidence)
        except Exception as error:
            # It may have taken long to fail: that is not done again for each rule.
            shared[key] = error
    if isinstance(shared[key], Exception):
        raise shared[key]
    return shared[key]
