"""What is said of one thing measured in several circumstances: with messages of several sizes, or numbers of ranks.

All of them count, and none for being the first: where they say the same it is told of the one with most figures, and
where they do not each is told with its circumstances in the title and with what the others say beside it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from apps.bench.rules import shapes
from apps.bench.rules.base import FindingDraft, Point
from apps.bench.rules.mpi.settings import COSTS
from apps.bench.rules.shapes import Curve, nodes_of
from apps.bench.rules.shapes.apart import in_unit
from apps.bench.text import Message, _

# What a draft speaks of a metric by, where two metrics of the same trials disagree.
METRIC = "metric"
# So many of the others are told.
MOST_OTHERS = 6
_SIZES = frozenset({"message_size", "max_size", "min_size", "collective_size", "block_size", "transfer_size"})


class Said(NamedTuple):
    """A finding, the circumstances (parameters) it was measured in, and what it says apart from its figures.

    `curve` is what it was read of (None: it is printed), `is_told` whether it tells anything but that too little was
    measured. `apart` is what the curve does not show; None is not known.
    """

    draft: FindingDraft
    circumstances: Mapping[str, Any]
    verdict: Any
    curve: Curve | None = None
    is_told: bool = True
    apart: Any = None


def circumstances_of(curve: Curve) -> dict[str, Any]:
    """Return all that was held while a factor was varied: parameters, tool and nodes."""
    return {**curve.fixed, "tool": curve.tool, "nodes": ", ".join(nodes_of(Point({}, {}, roles=curve.roles)))}


class Silent(NamedTuple):
    """A subject and circumstances in which it was measured, too, without telling anything."""

    subject: str
    circumstances: Mapping[str, Any]


def settled(sayings: Iterable[Said | Silent]) -> list[FindingDraft]:
    """Return the findings of all that was said: one of each subject, or several that name their circumstances."""
    by_subject: dict[str, list[Said]] = {}
    silent: dict[str, list[Silent]] = {}
    for item in sayings:
        if isinstance(item, Silent):
            silent.setdefault(item.subject, []).append(item)
        else:
            by_subject.setdefault(item.draft.subject, []).append(item)
    return [
        draft for subject in sorted(by_subject) for draft in _of_one(by_subject[subject], silent.get(subject, ()))
    ]


def _of_one(sayings: Sequence[Said], silent: Sequence[Silent]) -> list[FindingDraft]:
    sayings_of_metric = _of_one_metric(sorted(sayings, key=_order))
    circumstances_said = {_key(item.circumstances) for item in sayings}
    unseen = {
        key: _without_metric(item) for item in silent if (key := _key(item.circumstances)) not in circumstances_said
    }
    names = _differing([*(item.circumstances for item in sayings_of_metric), *unseen.values()])
    if not names:
        return [sayings_of_metric[0].draft]
    rest = [_undecided(unseen[key], names) for key in sorted(unseen)]
    drafts = []
    for verdict in dict.fromkeys(item.verdict for item in sayings_of_metric):
        own = [item for item in sayings_of_metric if item.verdict == verdict]
        others = [item for item in sayings_of_metric if item.verdict != verdict]
        draft = _named(own, others, names)
        drafts.append(replace(draft, against=(*draft.against, *rest[:MOST_OTHERS])))
    return drafts


def _order(said: Said) -> tuple[Any, ...]:
    """Return a key: most trials first, then by what does not depend on the order of the evidence."""
    return (
        -len(said.draft.evidence),
        -said.draft.confidence,
        sorted((name, repr(value)) for name, value in said.circumstances.items()),
        said.draft.evidence,
        repr(said.verdict),
    )


def _of_one_metric(sayings: Sequence[Said]) -> list[Said]:
    """Return the first of those that differ in nothing but the metric, where all metrics say the same."""
    groups: dict[str, list[Said]] = {}
    for item in sayings:
        groups.setdefault(_key(item.circumstances), []).append(item)
    sayings_of_metric = []
    for own in groups.values():
        is_one = len({item.verdict for item in own}) == 1
        sayings_of_metric += [own[0]._replace(circumstances=_without_metric(own[0]))] if is_one else own
    return sayings_of_metric


def _key(circumstances: Mapping[str, Any]) -> str:
    """Return all but the metric, as a key."""
    return repr(sorted(((name, value) for name, value in circumstances.items() if name != METRIC), key=repr))


def _without_metric(item: Said | Silent) -> dict[str, Any]:
    return {name: value for name, value in item.circumstances.items() if name != METRIC}


def _differing(circumstances: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the circumstances that are not the same in all."""
    names = sorted({name for own in circumstances for name in own})
    return [name for name in names if len({repr(own.get(name)) for own in circumstances}) > 1]


def _named(own: Sequence[Said], others: Sequence[Said], names: Sequence[str]) -> FindingDraft:
    """Return the first of those that say the same, with its circumstances, and what the rest says."""
    draft, words = own[0].draft, _words(own[0].circumstances, names)
    alike = [
        Message(_("It is the same with %(circumstances)s."), {"circumstances": _words(i.circumstances, names)})
        for i in own[1:]
    ]
    against = [_against(own[0], item, names) for item in others]
    return replace(
        draft,
        subject=f"{draft.subject}, {words}"[:200] if others else draft.subject,
        title=_with(draft.title, words),
        compared_title=_with(draft.compared_title, words) if draft.compared_title else None,
        why=(*draft.why, *alike[:MOST_OTHERS]),
        against=(*draft.against, *against[:MOST_OTHERS]),
    )


def _undecided(circumstances: Mapping[str, Any], names: Sequence[str]) -> Message:
    text = _("It is not decided with %(circumstances)s.")
    return Message(text, {"circumstances": _words(circumstances, names)})


def _against(own: Said, other: Said, names: Sequence[str]) -> Message:
    """Return what is said in other circumstances: that it is otherwise only where the figures of both show it."""
    if not other.is_told:
        return _undecided(other.circumstances, names)
    params = {"circumstances": _words(other.circumstances, names), "said": _title(other.draft).as_json()}
    if not own.is_told:
        return Message(_("It is told with %(circumstances)s: %(said)s."), params)
    if _is_surely_otherwise(own, other):
        return Message(_("It is otherwise with %(circumstances)s: %(said)s."), params)
    return Message(_("Whether it is otherwise is not decided with %(circumstances)s: %(said)s."), params)


def _is_surely_otherwise(own: Said, other: Said) -> bool:
    """Return whether two settings surely have another ratio in the one circumstance than in the other.

    Each by the interval that holds with all that were looked at. What is printed is taken by its word.
    """
    if own.curve is None or other.curve is None:
        return True
    if None not in (own.apart, other.apart) and own.apart != other.apart:
        return True
    ratios = _ends_of(own.curve), _ends_of(other.curve)
    return any(
        ratios[0][sides][0] > ratios[1][sides][1] or ratios[1][sides][0] > ratios[0][sides][1]
        for sides in ratios[0].keys() & ratios[1].keys()
    )


def _ends_of(curve: Curve) -> dict[tuple[Any, Any], tuple[float, float]]:
    """Return between what each two values' ratio surely lies; of times it is that of their inverse."""
    straight = [shapes.inverse(item) if curve.metric in COSTS else item for item in shapes.ratios_of(curve)]
    flip = curve.metric in COSTS
    return {
        (item.to[curve.factor], item.of[curve.factor])
        if flip
        else (item.of[curve.factor], item.to[curve.factor]): item.ends
        for item in straight
    }


def _title(draft: FindingDraft) -> Message:
    """Return what a finding says as a comparison: nothing is recommended in what speaks against another."""
    return draft.compared_title or draft.title


def _with(title: Message, words: str) -> Message:
    return Message(_("With %(circumstances)s: %(said)s"), {"circumstances": words, "said": title.as_json()})


def _words(circumstances: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return circumstances by the tool's names: "message_size = 1 MiB, pairs = 2"."""
    return ", ".join(_word(name, circumstances.get(name)) for name in names)


def _word(name: str, value: Any) -> str:
    if name == METRIC and value:
        return str(value)
    return f"{name} = {in_unit(value, 'B' if name in _SIZES else '')}"
