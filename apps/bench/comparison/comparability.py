"""Whether sets of results can be compared as they are shown, and to what a difference can be put down."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from apps.bench.comparison.environments import Deviation
from apps.bench.text import Message, _

# What is said of how sets were measured, which rests on what agents told of nodes among other things.
CHANGED = _("While %(set)s was measured this changed on its nodes: %(what)s. Narrow it to the dates of one of them.")
ONLY_DATES = _("Nothing that was recorded differs between the sets but the dates.")
ONLY_DATES_OF_ALL = _(
    "Nothing that was recorded of all sets differs but the dates. Not known, and may differ: %(unknown)s."
)
ONE = _("One thing that was recorded differs, so a difference can be put down to it: %(what)s.")
ONE_OF_ALL = _("One thing that was recorded differs: %(what)s. Not known, and may differ as well: %(unknown)s.")
SEVERAL = _(
    "%(count)s things that were recorded differ, so a difference cannot be put down to any one of them: %(what)s."
)
UNKNOWN_SOMEWHERE = _("Of %(count)s things only some sets tell; they may differ or not.")
OF_SURROUNDINGS = (CHANGED, ONLY_DATES, ONLY_DATES_OF_ALL, ONE, ONE_OF_ALL, SEVERAL, UNKNOWN_SOMEWHERE)
# More names than this in a sentence are counted.
MOST_NAMES = 4


class RemarkLevel(Enum):
    """How much a remark weighs: a refusal says that the figures must not be compared as they stand."""

    NOTE = "note"
    CAUTION = "caution"
    REFUSAL = "refusal"


@dataclass(frozen=True)
class Remark:
    """Something to know before sets are compared."""

    level: RemarkLevel
    message: Message


@dataclass(frozen=True)
class ComparedSets:
    """What a comparison shows, set by set.

    `averaged` has the labels of what figures are means over; `common` counts the places that all sets have, `axis`
    names what tells them apart ("" if the sets are on the axis, and nothing else does).
    `changed` are the names of what changed on a node while a set was measured, `untold` the labels of settings that
    are not known of all, and may differ; `unrecorded` names what of the nodes, tools and paths is not known of all.
    """

    names: tuple[str, ...]
    tools: tuple[frozenset[str], ...]
    units: tuple[frozenset[str], ...]
    samples: tuple[int, ...]
    axis: str
    common: int
    averaged: tuple[str, ...]
    deviations: tuple[Deviation, ...]
    changed: tuple[frozenset[str], ...] = ()
    untold: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()
    invalid: int = 0
    cut: int = 0


def judge(subject: ComparedSets) -> list[Remark]:
    """Return what speaks against the comparison, the gravest first, and what it can tell."""
    remarks = [*_samples(subject), *_units(subject), *_averaged(subject)]
    if all(subject.samples):
        remarks += _changed(subject)
        if len(subject.names) > 1:
            remarks += [*_places(subject), *_tools(subject), *_causes(subject)]
    order = [RemarkLevel.REFUSAL, RemarkLevel.CAUTION, RemarkLevel.NOTE]
    return sorted(remarks, key=lambda remark: order.index(remark.level))


def _samples(subject: ComparedSets) -> list[Remark]:
    remarks = [
        Remark(RemarkLevel.REFUSAL, Message(_("%(set)s has no figures of this metric."), {"set": name}))
        for name, count in zip(subject.names, subject.samples, strict=True)
        if not count
    ]
    if subject.invalid:
        text = _("Figures that a flag makes invalid are counted here: %(count)s.")
        remarks.append(Remark(RemarkLevel.CAUTION, Message(text, {"count": subject.invalid})))
    if subject.cut:
        text = _(
            "There are more results than are compared at once: %(count)s older ones are left out. Narrow the sets."
        )
        remarks.append(Remark(RemarkLevel.CAUTION, Message(text, {"count": subject.cut})))
    return remarks


def _units(subject: ComparedSets) -> list[Remark]:
    units = sorted({unit for of_set in subject.units for unit in of_set})
    if len(units) < 2:
        return []
    text = _("The figures have different units (%(units)s): narrow the sets to tools that measure the same.")
    return [Remark(RemarkLevel.REFUSAL, Message(text, {"units": ", ".join(units)}))]


def _averaged(subject: ComparedSets) -> list[Remark]:
    if not subject.averaged:
        return []
    text = _("Each figure is averaged over %(factors)s.")
    return [Remark(RemarkLevel.NOTE, Message(text, {"factors": _listed(subject.averaged)}))]


def _places(subject: ComparedSets) -> list[Remark]:
    if subject.common or not subject.axis:
        return []
    text = _("The sets have no value of %(factor)s in common: there is nothing to set side by side.")
    return [Remark(RemarkLevel.REFUSAL, Message(text, {"factor": subject.axis}))]


def _tools(subject: ComparedSets) -> list[Remark]:
    if len(set(subject.tools)) < 2:
        return []
    text = _("Different tools measured them (%(tools)s): what they call by one name may differ in what it counts.")
    tools = ", ".join(sorted({tool for of_set in subject.tools for tool in of_set}))
    return [Remark(RemarkLevel.CAUTION, Message(text, {"tools": tools}))]


def _changed(subject: ComparedSets) -> list[Remark]:
    return [
        Remark(RemarkLevel.CAUTION, Message(CHANGED, {"set": name, "what": _listed(sorted(names))}))
        for name, names in zip(subject.names, subject.changed, strict=False)
        if names
    ]


def _causes(subject: ComparedSets) -> list[Remark]:
    causes = [item for item in subject.deviations if not item.is_unknown_somewhere]
    unknown = len(subject.deviations) - len(causes)
    remarks = []
    if subject.untold:
        text = _(
            "Settings that are not known of all sets may differ, so a difference can be put down to nothing for "
            "certain: %(what)s."
        )
        remarks.append(Remark(RemarkLevel.CAUTION, Message(text, {"what": _listed(subject.untold)})))
    elif not causes:
        text = ONLY_DATES_OF_ALL if subject.unrecorded else ONLY_DATES
        remarks.append(Remark(RemarkLevel.NOTE, Message(text, {"unknown": ", ".join(subject.unrecorded)})))
    elif len(causes) == 1 and subject.unrecorded:
        values = {"what": causes[0].name, "unknown": ", ".join(subject.unrecorded)}
        remarks.append(Remark(RemarkLevel.NOTE, Message(ONE_OF_ALL, values)))
    elif len(causes) == 1 and not any(causes[0].name in names for names in subject.changed):
        remarks.append(Remark(RemarkLevel.NOTE, Message(ONE, {"what": causes[0].name})))
    if len(causes) > 1:
        names = _listed([item.name for item in causes])
        remarks.append(Remark(RemarkLevel.CAUTION, Message(SEVERAL, {"count": len(causes), "what": names})))
    if unknown:
        remarks.append(Remark(RemarkLevel.NOTE, Message(UNKNOWN_SOMEWHERE, {"count": unknown})))
    return remarks


def _listed(names: Sequence[str]) -> str:
    """Return "a, b, c, …": the first names, and how many more there are."""
    listed = ", ".join(names[:MOST_NAMES])
    return listed if len(names) <= MOST_NAMES else f"{listed}, … (+{len(names) - MOST_NAMES})"
