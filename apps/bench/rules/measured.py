"""What findings propose and was measured already: nobody is asked for it again, and what it showed is heeded."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from apps.bench import tools
from apps.bench.rules import pace
from apps.bench.rules.base import RECOMMENDATION, SAMPLE, Alternative, Evidence, FindingDraft, Point, Proof, Proposal
from apps.bench.rules.shapes.apart import UNTOLD, declared, in_unit
from apps.bench.rules.told import rest_of, unknown_in
from apps.bench.sweep import SweepError, parse_factor, setting_names
from apps.bench.text import Message, _

# Of how long, or of how much, a run is: what was measured for this share of what is asked, or more, was measured.
LENGTHS, NEARLY = ("duration", "omit", "interval", "count", "file_size", "size"), 0.9
# A change that was tried gained nothing unless it gave more than this times what there is.
GAIN = 1.01
TRIED = _("Measured already, so it is not proposed again: %(tool)s, %(settings)s.")


def settle(draft: FindingDraft, evidence: Evidence) -> FindingDraft | None:
    """Return a finding without the proposals that were measured; None where its change was, and gained nothing."""
    if draft.kind == RECOMMENDATION and draft.proof and _gained_nothing(draft.proof, evidence):
        return None
    tried = [item for item in draft.proposals if is_measured(item, evidence, draft.evidence)]
    alternatives = tuple(_without_measured(item, evidence, draft.evidence) for item in draft.alternatives)
    if not tried and alternatives == draft.alternatives:
        return draft
    is_open, missing = [item not in tried for item in draft.proposals], draft.missing
    if len(missing) == len(is_open):
        # One for each thing that is missing; else one for all of them together.
        missing = tuple(itertools.compress(missing, is_open))
    elif len(missing) == 1 and not any(is_open):
        missing = ()
    return replace(
        draft,
        alternatives=alternatives,
        missing=missing,
        proposals=tuple(itertools.compress(draft.proposals, is_open)),
        limits=(*draft.limits, *map(_tried, tried)),
    )


def is_measured(proposal: Proposal, evidence: Evidence, trials: Collection[int] = (), metric: str = "") -> bool:
    """Return whether all settings of an experiment were measured on its nodes; a repetition is of what was.

    Where it names none they are those that these trials ran on; `metric` is what it is to tell, where its tool does.
    """
    if proposal.is_repetition:
        return False
    try:
        settings = list(_settings_of(proposal))
    except (tools.UnknownTool, SweepError):
        return False
    nodes = [proposal.roles] if proposal.roles else _nodes_of(evidence, trials)
    # What the second role sent stands beside what the first did.
    pool = [*evidence.points, *(point for item in _turned(evidence) for point in item.points)]
    points = [point for point in pool if _is_of(point, proposal, evidence) and _is_on(point, nodes)]
    if any(item.name == metric for item in tools.get(proposal.tool).metrics):
        points = [point for point in points if point.values(metric)]
    return all(any(_is_at(point, setting) for point in points) for setting in settings)


def _without_measured(alternative: Alternative, evidence: Evidence, trials: Collection[int]) -> Alternative:
    proposal = alternative.proposal
    if proposal is None or not is_measured(proposal, evidence, trials):
        return alternative
    return replace(alternative, test=_tried(proposal), proposal=None)


def _tried(proposal: Proposal) -> Message:
    own, texts = declared(proposal.tool), {**proposal.fixed, **proposal.factors}
    words = [
        f"{name} = {in_unit(value, own[name].unit if name in own and not isinstance(value, str) else '')}"
        for name, value in texts.items()
        if value not in ("", None)
    ]
    return Message(TRIED, {"tool": proposal.tool, "settings": "; ".join(words) or UNTOLD})


def _settings_of(proposal: Proposal) -> Iterator[dict[str, Any]]:
    """Yield {name: value} of each setting of an experiment; SweepError or tools.UnknownTool."""
    parameters = {item.name: item for item in tools.get(proposal.tool).parameters}
    texts = {name: text for name, text in {**proposal.fixed, **proposal.factors}.items() if text is not None}
    parameters |= setting_names.parameters_of(texts)
    axes = [
        parse_factor(parameters[name], text) if isinstance(text, str) and text else [text]
        for name, text in texts.items()
        if name in parameters
    ]
    for values in itertools.product(*axes):
        yield dict(zip((name for name in texts if name in parameters), values, strict=True))


def _is_of(point: Point, proposal: Proposal, evidence: Evidence) -> bool:
    """Return whether a point is of an experiment's tool, nodes and files, and data went the way that is asked for."""
    is_there = point.tool == proposal.tool and point.statistic == SAMPLE and any(point.metrics.values())
    if not is_there or (proposal.file_system and proposal.file_system != point.file_system):
        return False
    way = tools.get(proposal.tool).backwards_at[0]
    return way in {*proposal.fixed, *proposal.factors} or evidence.is_of_way(point)


def _turned(evidence: Evidence) -> list[Evidence]:
    return [item for item in evidence.beside if item.is_back != evidence.is_back]


def _nodes_of(evidence: Evidence, trials: Collection[int]) -> list[Mapping[str, tuple[str, ...]]]:
    return [point.roles for point in evidence.points if any({*trials} & {*own} for own in point.metrics.values())]


def _is_on(point: Point, nodes: Sequence[Mapping[str, tuple[str, ...]]]) -> bool:
    """Return whether a point was measured on one of these sets of nodes, as far as both name roles."""
    return not nodes or any(
        all({*names} == {*point.roles.get(role, names)} for role, names in own.items()) for own in nodes
    )


def _is_at(point: Point, setting: Mapping[str, Any]) -> bool:
    """Return whether a point has a setting, for about as long or longer, and all else as nobody chose it."""
    own = declared(point.tool)
    if unknown_in(point.parameters) & {*setting, *own}:
        return False
    for name, value in setting.items():
        had = point.parameters.get(name, _default(own, name))
        if had != value and not (name in LENGTHS and (had or 0) >= NEARLY * value):
            return False
    others = rest_of(point.parameters, *setting, *LENGTHS, tools.get(point.tool).backwards_at[0])
    return all(
        (value or None) == (_default(own, name) or None) or (name in own and own[name].aside)
        for name, value in others.items()
    )


def _default(own: Mapping[str, Any], name: str) -> Any:
    return own[name].default if name in own else None


def _gained_nothing(proof: Proof, evidence: Evidence) -> bool:
    """Return whether a change was measured beside what there is, all else alike, and nowhere gave more."""
    names = {*proof.now, *proof.then}
    sides = [
        [
            (point, rate)
            for point in evidence.points
            if point.tool == proof.tool and point.file_system == proof.file_system and point.statistic == SAMPLE
            if not unknown_in(point.parameters) & names
            if all((point.parameters.get(name) or None) == (setting.get(name) or None) for name in names)
            if (rate := pace.undisturbed(point, proof.metric).mean(proof.metric))
        ]
        for setting in (proof.now, proof.then)
    ]
    gains = [
        then / now
        for (one, now), (other, then) in itertools.product(*sides)
        if rest_of(one.parameters, *names) == rest_of(other.parameters, *names) and one.roles == other.roles
    ]
    if _is_cost(proof):
        gains = [1 / gain for gain in gains]
    return bool(gains) and max(gains) <= GAIN


def _is_cost(proof: Proof) -> bool:
    """Return whether less of a metric is better, such as of a time."""
    try:
        return any(
            item.name == proof.metric and item.higher_is_better is False for item in tools.get(proof.tool).metrics
        )
    except tools.UnknownTool:
        return False
