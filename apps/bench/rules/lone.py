"""Findings that compare settings of which each was measured once: what they say is not decided by that."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from apps.bench import tools
from apps.bench.rules.base import (
    DOUBT,
    NO_CHANGE,
    RECOMMENDATION,
    SAMPLE,
    Evidence,
    FindingDraft,
    Point,
    Proposal,
)
from apps.bench.rules.shapes.apart import PRINTED
from apps.bench.text import Message, _

# So sure it is at most.
MOST = 0.4


def weigh(draft: FindingDraft, evidence: Evidence) -> FindingDraft:
    """Return a finding; where it compares lone figures that were measured, as one that is not decided.

    A printed figure is a mean of as many runs as its publication says, or does not say.
    """
    points = _compared(draft, evidence)
    # What limits a run of a network is told by that run; which setting is better, only by several of each.
    tells_alone = draft.kind not in (NO_CHANGE, RECOMMENDATION) and all(_is_of_network(point) for point in points)
    if len(points) < 2 or tells_alone:
        return draft
    proposal = _again(points)
    return replace(
        draft,
        kind=DOUBT if draft.kind == NO_CHANGE else draft.kind,
        # Whoever asks what a title names finds that as before.
        title=Message(
            _("n = 1, not enough to tell: %(said)s"), {**draft.title.params, "said": draft.title.as_json()}
        ),
        confidence=min(draft.confidence, MOST),
        missing=(*draft.missing, Message(_("The same once more, three times or more: n = 1 is not enough to tell."))),
        proposals=(*draft.proposals, *([proposal] if proposal else [])),
    )


def _compared(draft: FindingDraft, evidence: Evidence) -> list[Point]:
    """Return the points that a finding compares, [] where one of them was measured twice, or is printed.

    What was measured at one point alone (the RTT of a path) is compared with nothing.
    """
    trials = {*draft.trials}
    own = [point for point in evidence.points if any(trials & {*cell} for cell in point.metrics.values())]
    alike = Counter((point.tool, point.layer) for point in own)
    points = [point for point in own if _group_of(point) and alike[point.tool, point.layer] > 1]
    is_lone = all(
        point.statistic == SAMPLE
        and PRINTED not in point.observed
        and all(len(cell) == 1 for cell in point.metrics.values())
        for point in points
    )
    return points if is_lone else []


def _is_of_network(point: Point) -> bool:
    return _group_of(point) == "network"


def _group_of(point: Point) -> str:
    try:
        return tools.get(point.tool).group
    except tools.UnknownTool:
        return ""


def _again(points: Sequence[Point]) -> Proposal | None:
    """Return the same settings once more; None where they are not one sweep."""
    first = points[0]
    varied = {
        name for point in points for name, value in point.parameters.items() if first.parameters.get(name) != value
    }
    if len(varied) != 1 or any(point.file_system != first.file_system for point in points):
        return None
    name = varied.pop()
    fixed = {key: value for key, value in first.parameters.items() if key != name}
    values = dict.fromkeys(str(point.parameters.get(name, "")) for point in points)
    return Proposal(first.tool, fixed, {name: ", ".join(values)}, {}, first.file_system, is_repetition=True)
