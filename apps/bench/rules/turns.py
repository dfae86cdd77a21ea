"""Settings that were compared, but not in turn: whatever changed between them looks like the setting's doing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from apps.bench import tools
from apps.bench.rules.base import DOUBT, RECOMMENDATION, Evidence, FindingDraft, Point, Proof, Proposal
from apps.bench.rules.told import unknown_in
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter
from apps.bench.units import canonical_text

# So sure a finding is at most whose settings were not measured in turn.
MOST = 0.5
# What is lost was offered in the same run: of such loads none is compared with another's.
OF_ITSELF = "loss"
NOT_IN_TURN = _(
    "The settings compared were not measured in turn, but one after another or in different experiments: what changed"
    " meanwhile, such as what others send, looks the same."
)


def weigh(draft: FindingDraft, evidence: Evidence) -> FindingDraft:
    """Return a finding; where no experiment measured the settings that it compares in turn it says so, less sure."""
    if draft.kind == DOUBT:
        return draft
    compared = _of_proof(draft.proof, evidence) if draft.proof else None
    apart = compared if compared is not None else _of_trials(draft, evidence) or _of_present(draft, evidence)
    if not apart:
        return draft
    proposal = _together(apart)
    return replace(
        draft,
        confidence=min(draft.confidence, MOST),
        limits=(Message(NOT_IN_TURN), *draft.limits),
        proposals=(*([proposal] if proposal and proposal not in draft.proposals else []), *draft.proposals),
    )


def _of_proof(proof: Proof, evidence: Evidence) -> list[Point] | None:
    """Return the points of the two settings of a proof where no experiment has both in turn; [] where one has.

    None where one of the two was not measured: then what was measured decides.
    """
    points = [
        point
        for point in evidence.points
        if point.values(proof.metric) and point.file_system == proof.file_system and point.experiment is not None
    ]
    names = {*proof.now, *proof.then}
    now, then = ([point for point in points if _has(point, names, setting)] for setting in (proof.now, proof.then))
    if not now or not then:
        return None
    is_together = any(
        one.experiment == other.experiment and not _in_sequence((one, other)) for one in now for other in then
    )
    return [] if is_together else [*now, *then]


def _in_sequence(points: Iterable[Point]) -> bool:
    """Return whether all repetitions of each setting came before all of the next: order and setting are the same.

    Trials are numbered in the order of their turns. Of settings that nobody repeated there is no other order.
    """
    spans = sorted(sorted({trial for own in point.metrics.values() for trial in own}) for point in points)
    is_repeated = all(len(own) > 1 for own in spans)
    return len(spans) > 1 and is_repeated and all(own[-1] < later[0] for own, later in pairwise(spans))


def _of_trials(draft: FindingDraft, evidence: Evidence) -> list[Point]:
    """Return the points of one tool that a finding rests on, each setting with experiments or a time of its own."""
    trials = {*draft.evidence}
    groups: dict[tuple[str, str, str], list[Point]] = {}
    for point in evidence.points:
        if point.experiment is None or point.values(OF_ITSELF):
            continue
        if any(trials & {*own} for own in point.metrics.values()):
            groups.setdefault((point.layer, point.tool, point.file_system), []).append(point)
    for points in groups.values():
        settings: dict[str, set[int | None]] = {}
        for point in points:
            settings.setdefault(_key(point), set()).add(point.experiment)
        counts = [experiment for own in settings.values() for experiment in own]
        if len(settings) > 1 and (len({*counts}) == len(counts) or _in_sequence(points)):
            return points
    return []


def _of_present(draft: FindingDraft, evidence: Evidence) -> list[Point]:
    """Return the points of what there is and of the rates that something better is expected by, where apart."""
    if draft.kind != RECOMMENDATION or not draft.present:
        return []
    trials = {*draft.evidence}
    points = [point for point in evidence.points if point.experiment is not None and not point.values(OF_ITSELF)]
    for metric in sorted({name for point in points for name in point.metrics}):
        now = [point for point in points if point.mean(metric) == draft.present]
        rates = [point for point in points if trials & {*point.trials(metric)}]
        if now and rates and not {point.experiment for point in now} & {point.experiment for point in rates}:
            return [*now, *rates]
    return []


def _together(points: Sequence[Point]) -> Proposal | None:
    """Return all the settings in one experiment; None where nothing known differs, or it cannot be written."""
    first, parameters = points[0], _parameters_of(points[0].tool)
    if any(point.tool != first.tool or unknown_in(point.parameters) for point in points):
        return None
    names = sorted({name for point in points for name in point.parameters} & parameters.keys())
    values = {name: _distinct(point.parameters.get(name) for point in points) for name in names}
    texts = {name: [_text(value, parameters[name].kind) for value in own] for name, own in values.items()}
    differing = {name: ", ".join(own) for name, own in texts.items() if len(own) > 1}
    usual = {name: [parameters[name].default] for name in names}
    held = {name: own[0] for name, own in texts.items() if name not in differing and values[name] != usual[name]}
    if not differing or any("" in texts[name] for name in differing):
        return None
    return Proposal(first.tool, held, differing, {}, first.file_system, is_repetition=True)


def _has(point: Point, names: Iterable[str], setting: Mapping[str, Any]) -> bool:
    """Return whether a point was measured at a setting, of which what is empty is what nobody chose."""
    if unknown_in(point.parameters) & {*names}:
        return False
    return all((point.parameters.get(name) or None) == (setting.get(name) or None) for name in names)


def _key(point: Point) -> str:
    roles = sorted((role, tuple(names)) for role, names in point.roles.items())
    return repr((sorted((name, repr(value)) for name, value in point.parameters.items()), roles))


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())


def _parameters_of(tool: str) -> dict[str, Parameter]:
    """Return a tool's parameters by name, none of a tool that is not among ours."""
    try:
        return {item.name: item for item in tools.get(tool).parameters}
    except tools.UnknownTool:
        return {}


def _text(value: Any, kind: str) -> str:
    return "" if value is None else canonical_text(value, kind)
