"""What a finding proposes, measured: points of all its settings on the nodes asked, with one of three outcomes."""

import dataclasses
import itertools

from apps.bench import tools
from apps.bench.rules.base import DISK, FILE_SYSTEM, INTERCONNECT, NETWORK, Point, Proposal
from apps.bench.rules.layers.disks import LOCAL
from apps.bench.sweep import parse_factor, setting_names

# How much each further setting gives of what was there: it confirms, it gains nothing, it is worse.
OUTCOMES = {"confirms": 2.0, "no gain": 1.0, "worse": 0.5}
LEVELS = {"bit/s": 3e8, "B/s": 3e7, "s": 0.005, "B": 1500.0, "fraction": 0.0, "%": 20.0}
LAYERS = {"network": NETWORK, "storage": FILE_SYSTEM, "mpi": INTERCONNECT, "transfer": NETWORK}
REPETITIONS = 3


def settings_of(proposal):
    """Return the parameters of each setting of a proposal, as a campaign's draft of it has them."""
    tool = tools.get(proposal.tool)
    parameters = {item.name: item for item in tool.parameters}
    parameters |= setting_names.parameters_of([*proposal.fixed, *proposal.factors])
    axes = [
        [(name, value) for value in parse_factor(parameters[name], text)] for name, text in proposal.factors.items()
    ]
    fixed = {name: value for name, value in proposal.fixed.items() if value is not None and name in parameters}
    for choice in itertools.product(*axes):
        chosen = {**fixed, **dict(choice)}
        settings = {name: value for name, value in chosen.items() if setting_names.is_setting(name)}
        yield tool.clean(setting_names.own_parameters(chosen)) | settings


def measured(proposal, draft, evidence, outcome):
    """Return evidence with a proposal of a finding measured."""
    tool = tools.get(proposal.tool)
    settings = list(settings_of(proposal))
    way, back = tool.backwards_at
    is_open = way not in {*proposal.fixed, *proposal.factors} and any(item.name == way for item in tool.parameters)
    if is_open and evidence.is_back:
        settings = [{**item, way: back} for item in settings]
    gains = [OUTCOMES[outcome] ** (place if len(settings) > 1 else 1) for place in range(len(settings))]
    return _with_points(evidence, tool, draft, proposal, dict(enumerate(zip(settings, gains, strict=True))))


def verified(draft, evidence, outcome):
    """Return evidence with both settings of a finding's proof measured in turn."""
    proof, tool = draft.proof, tools.get(draft.proof.tool)
    sides = {}
    for place, setting in enumerate((proof.now, proof.then)):
        kernel = {name: value for name, value in setting.items() if setting_names.is_setting(name)}
        sides[place] = tool.clean(setting_names.own_parameters(setting)) | kernel, OUTCOMES[outcome] ** place
    return _with_points(evidence, tool, draft, Proposal(proof.tool, file_system=proof.file_system), sides)


def _with_points(evidence, tool, draft, proposal, sides):
    """Return evidence with points of {place: (parameters, gain)}, measured in turn in one experiment."""
    used = [trial for point in evidence.points for own in point.metrics.values() for trial in own]
    ids = itertools.count(max(used, default=0) + 1)
    turns = [[next(ids) for _side in sides] for _repetition in range(REPETITIONS)]
    experiments = [point.experiment for point in evidence.points if point.experiment is not None]
    # As a draft of a campaign has them: the nodes that a proposal names, else those of its finding's evidence.
    own_points = [
        point for point in evidence.points if any({*draft.evidence} & {*own} for own in point.metrics.values())
    ]
    like = next(
        (point for point in own_points if point.tool == tool.slug), own_points[0] if own_points else Point({}, {})
    )
    name = proposal.file_system or like.file_system
    facts = evidence.file_systems.get(name)
    levels, points = _levels_of(tool, evidence, name), []
    for place, (parameters, gain) in sides.items():
        rates = {
            item.name: levels[item.name] * (gain if item.higher_is_better else 1 / gain if item.unit == "s" else 1)
            for item in tool.metrics
        }
        if parameters.get("rate") and "goodput" in rates:
            rates["goodput"] = min(rates["goodput"], parameters["rate"])
        point = Point(
            parameters,
            {metric: {turn[place]: value for turn in turns} for metric, value in rates.items()},
            tool=tool.slug,
            layer=DISK if facts and facts.kind in LOCAL else LAYERS.get(tool.group, NETWORK),
            roles={**like.roles, **proposal.roles},
            file_system=name,
            experiment=max(experiments) + 1 if experiments else None,
        )
        points.append(point)
    return dataclasses.replace(evidence, points=(*evidence.points, *points))


def _levels_of(tool, evidence, file_system):
    """Return {metric: level} of a tool: the least that the evidence has of it, or one of that unit."""
    return {
        metric.name: min(
            (
                point.mean(metric.name)
                for point in evidence.points
                if point.tool == tool.slug and point.file_system == file_system and point.values(metric.name)
            ),
            default=LEVELS.get(metric.unit, 1.0),
        )
        for metric in tool.metrics
    }
