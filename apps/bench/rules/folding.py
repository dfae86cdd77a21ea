"""Proposals for one question (one path, one file system) as one finding: now, do this, gain; the rest beside it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from apps.bench.rules import measured, turns
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft
from apps.bench.rules.path import unexplained
from apps.bench.rules.runner import Rule, cut, of_known
from apps.bench.rules.tcp import best, contradictions, rivals
from apps.bench.rules.weight import weigh
from apps.bench.text import Message, _

# What rules of one pair of ends propose is all for the path between them.
PATH = "path"
# How a person has decided of a proposal, or a measurement: what leads, what stands by itself, and what is open.
LEADS, APART, OPEN = "leads", "apart", "open"
# Gains this near (a share) are one: then what says how to do it leads, and of that what stays in a file.
ALIKE = 0.9

# Rules that say what limits one rate of a file system: what can be done, the layer, that it is open, a share.
SHARE, TOLD_APART = "storage-share-of-disk", ("limiting-layer", "undecided-layer")
LAYERS = ("storage-connections", *TOLD_APART, SHARE)

# Rules that say what one factor does to each metric of a file system's runs.
BY_METRIC = ("storage-clients", "storage-record-size")

# What leads says so of each of the others among its reasons.
FOLDED = _("For the same question: %(title)s")

# What is told of all other findings on one path, once these are known.
OF_OTHERS = (
    Rule(best.RULE, best.VERSION, best.conclude),
    Rule(unexplained.RULE, unexplained.VERSION, unexplained.conclude),
)

Standing = Callable[[FindingDraft], str]


def open_all(_draft: FindingDraft) -> str:
    """Return that nobody has decided anything."""
    return OPEN


def fold_ends(
    drafts: Sequence[FindingDraft], evidence: Evidence, standing: Standing = open_all
) -> list[FindingDraft]:
    """Return the findings on one pair of ends: of all that is proposed for its path, one.

    A setting that was measured and had surely more than what leads, or where nothing does than what there is now,
    takes its place. Where nothing says why the path gives less than it carries, that is told.
    """
    path_drafts = [replace(draft, question=PATH) for draft in drafts]
    leads = [draft for draft in fold(path_drafts, standing) if draft.kind == RECOMMENDATION]
    lead = next((draft for draft in leads if standing(draft) != APART), None)
    better = None
    if lead is None or standing(lead) == OPEN:
        better = of_known(
            contradictions.weighed(rivals.with_loss_beside(lambda subset: best.conclude(subset, lead))), evidence
        )
    own = measured.settle(cut(replace(better, question=PATH), evidence), evidence) if better else None
    others = [turns.weigh(weigh(own, evidence), evidence)] if own else []
    folded = fold([*path_drafts, *others], standing)
    rest = of_known(lambda subset: unexplained.conclude(subset, folded), evidence)
    rest = measured.settle(rest, evidence) if rest else None
    return [*folded, replace(turns.weigh(rest, evidence), question=PATH)] if rest else folded


def fold(drafts: Iterable[FindingDraft], standing: Standing = open_all) -> list[FindingDraft]:
    """Return the findings, of the proposals for one question only the one that leads, with the others as its parts.

    It is the one that somebody holds to already, else that of the largest gain, which says what to do. One that was
    dismissed or refuted stands by itself.
    """
    listed = _fold_metrics(_fold_layers(list(drafts), standing), standing)
    groups: dict[str, list[FindingDraft]] = {}
    for draft in listed:
        if draft.kind == RECOMMENDATION and draft.question and standing(draft) != APART:
            groups.setdefault(draft.question, []).append(draft)
    folded: dict[int, FindingDraft | None] = {}
    for group in groups.values():
        max_gain = max(map(_gain, group))
        lead, *others = sorted(group, key=lambda draft: _rank(draft, standing, max_gain), reverse=True)
        # What somebody holds to is not taken from them because they hold to another as well.
        parts = [draft for draft in others if standing(draft) != LEADS]
        folded |= {id(draft): None for draft in parts} | {id(lead): _joined(lead, parts)}
    entries = [folded.get(id(draft), draft) for draft in listed]
    return [draft for draft in entries if draft is not None]


def _fold_metrics(drafts: Sequence[FindingDraft], standing: Standing) -> list[FindingDraft]:
    """Return the findings, of those on what one factor does to several metrics of the same runs one.

    What it leaves as it is stands with what it changes: else one says to let many do I/O, and another that more add
    nothing.
    """
    own = [draft for draft in drafts if draft.rule in BY_METRIC and standing(draft) == OPEN]
    parts: dict[int, list[FindingDraft]] = {}
    folded = set()
    for draft in own:
        leads = [item for item in own if item.kind != NO_CHANGE and _is_of_same_runs(item, draft)]
        if draft.kind == NO_CHANGE and leads:
            parts.setdefault(id(leads[0]), []).append(draft)
            folded.add(id(draft))
    entries = [draft for draft in drafts if id(draft) not in folded]
    return [_joined(draft, parts[id(draft)]) if id(draft) in parts else draft for draft in entries]


def _is_of_same_runs(one: FindingDraft, other: FindingDraft) -> bool:
    return one.rule == other.rule and bool({*one.evidence} & {*other.evidence})


def _fold_layers(drafts: Sequence[FindingDraft], standing: Standing) -> list[FindingDraft]:
    """Return the findings, of those on what limits one rate of a file system only the one that says most.

    A share that rests on no more than what the layers were told apart by is of the same rate.
    """
    own = [draft for draft in drafts if draft.rule in LAYERS and standing(draft) == OPEN]
    told_apart = [draft for draft in own if draft.rule in TOLD_APART]
    groups: dict[str, list[FindingDraft]] = {}
    for draft in sorted(own, key=lambda item: LAYERS.index(item.rule)):
        rates = [item.subject for item in told_apart if draft.evidence and {*draft.evidence} <= {*item.evidence}]
        key = next(iter(rates), "") if draft.rule == SHARE else draft.subject
        groups.setdefault(key or f"{draft.rule} {draft.subject}", []).append(draft)
    joined: dict[int, FindingDraft | None] = {}
    for lead, *parts in groups.values():
        if parts:
            joined |= {id(draft): None for draft in parts} | {id(lead): _joined(lead, parts)}
    entries = [joined.get(id(draft), draft) for draft in drafts]
    return [draft for draft in entries if draft is not None]


def _joined(lead: FindingDraft, parts: Sequence[FindingDraft]) -> FindingDraft:
    """Return the proposal that leads with the others beside it, each named among its reasons."""
    reasons = [Message(FOLDED, {"title": draft.title.as_json()}) for draft in parts]
    flat = [item for draft in parts for item in (replace(draft, parts=()), *draft.parts)]
    return replace(lead, why=(*lead.why, *reasons), parts=(*lead.parts, *flat))


def _rank(draft: FindingDraft, standing: Standing, max_gain: float) -> tuple[bool, bool, bool, bool, float, float]:
    gain, is_file = _gain(draft), draft.change.startswith("#")
    return standing(draft) == LEADS, gain >= ALIKE * max_gain, bool(draft.change), is_file, gain, draft.confidence


def _gain(draft: FindingDraft) -> float:
    """Return by how many times a proposal betters what there is, 1 where nobody knows."""
    if not draft.present or not draft.predicted:
        return 1.0
    return draft.present / draft.predicted if draft.predicted_unit == "s" else draft.predicted / draft.present
