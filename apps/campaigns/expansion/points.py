"""The points of an experiment's sweep, and all of it put together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.bench import sweep, tools, units
from apps.bench.context.bracket import GROUPS, PROBES
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter, ParameterError, Params, Tool
from apps.campaigns import adaptive, errors
from apps.campaigns.expansion import formulas, storage
from apps.campaigns.expansion.casts import Cast, Errors, casts_of, limit_trials
from apps.campaigns.expansion.formulas import Figures
from apps.campaigns.models import Experiment, ExperimentRole, Trial
from apps.core import bounded
from apps.testbeds.models import FileSystem
from apps.toolbox import queries as toolbox


@dataclass(frozen=True)
class Expansion:
    """What an experiment comes to: every cast measures every point, `repetitions` times after `warmups`.

    `points` are the tool's parameters, typed and complete, and kernel settings (texts); `left_out` counts the
    combinations of nodes in which one node would have played two roles. `parameters` are those that factors and fixed
    values name. `open` {parameter: formula} are those that wait for earlier experiments: in their place stand
    defaults, so many of them as the formula will make values. `resolved` {parameter: text} are those computed.
    """

    tool: Tool
    spec: sweep.SweepSpec
    casts: tuple[Cast, ...]
    left_out: int
    points: tuple[Params, ...]
    parameters: Mapping[str, Parameter]
    file_system: FileSystem | None = None
    context: bool = False
    open: Mapping[str, str] = field(default_factory=dict)
    resolved: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs_per_point(self) -> int:
        """Return how often each point is measured by each cast, warm-ups included."""
        return self.spec.repetitions + self.spec.warmups

    @property
    def trials(self) -> int:
        """Return how many trials the experiment makes."""
        return len(self.casts) * len(self.points) * self.runs_per_point


def expand_experiment(
    experiment: Experiment,
    roles: Iterable[ExperimentRole],
    figures: Figures | None = None,
    only: tuple[Cast, ...] = (),
) -> Expansion:
    """Return what an experiment comes to, saved or not; errors.Refused names each field that is wrong.

    With `figures`, formulas are computed of what they give; without, they are only checked and stay open. `only` some
    of its casts may be expanded.
    """
    try:
        tool = toolbox.get_tool(experiment.tool, experiment.campaign.team)
    except tools.UnknownTool:
        slugs = ", ".join(tool.slug for tool in toolbox.tools_for(experiment.campaign.team))
        text = _("There is no tool “%(tool)s” here; choose one of: %(known)s.")
        raise errors.Refused({"tool": Message(text, {"tool": experiment.tool, "known": slugs})}) from None
    texts = _texts_of(experiment)
    known_parameters = {item.name: item for item in tool.parameters} | setting_names.parameters_of(texts)
    wrong: Errors = {}
    sweep_texts = formulas.read(experiment, known_parameters, figures, wrong)
    spec = _spec_of(experiment, sweep_texts)
    casts, left_out = casts_of(tool, roles, wrong)
    casts = only or casts
    points = _points_of(tool, spec, known_parameters, wrong)
    points = [point for point in points for _copy in range(sweep_texts.copies)]
    if not wrong:
        limit_trials(len(casts) * len(points) * (spec.repetitions + spec.warmups), wrong)
    if not wrong:
        _check_casts(tool, casts[0], points, spec, wrong)
        storage.check(tool, experiment.file_system, casts, wrong)
        adaptive.check(experiment, known_parameters, points, sweep_texts.open, wrong)
    if wrong:
        raise errors.Refused(wrong)
    return Expansion(
        tool=tool,
        spec=spec,
        casts=casts,
        left_out=left_out,
        points=tuple(points),
        parameters=known_parameters,
        file_system=experiment.file_system,
        context=experiment.context and is_bracketed(tool),
        open=sweep_texts.open,
        resolved=sweep_texts.resolved,
    )


def is_bracketed(tool: Tool) -> bool:
    """Say whether the path is looked at before and after a run of the tool, if the experiment wants that."""
    return tool.group in GROUPS and tool.slug not in PROBES and len(tool.roles) > 1


def _texts_of(experiment: Experiment) -> list[str]:
    return [*experiment.fixed, *(factor["name"] for factor in experiment.factors)]


def _spec_of(experiment: Experiment, sweep_texts: formulas.SweepTexts) -> sweep.SweepSpec:
    try:
        return sweep.make_spec(
            factors=[sweep.Factor(name, expression) for name, expression in sweep_texts.factors],
            zips=experiment.zips,
            exclusions=sweep_texts.exclusions,
            fixed=sweep_texts.fixed,
            repetitions=experiment.repetitions,
            warmups=experiment.warmups,
            order=experiment.order,
            seed=experiment.seed,
        )
    except sweep.SweepError as error:
        raise errors.Refused(error.errors) from None


def _points_of(
    tool: Tool, spec: sweep.SweepSpec, parameters: Mapping[str, Parameter], wrong: Errors
) -> list[dict[str, Any]]:
    fixed: dict[str, Any] = {}
    for name, text in spec.fixed.items():
        try:
            fixed[name] = parameters[name].clean(text) if name in parameters else text
        except units.UnitError as error:
            wrong.setdefault(f"fixed.{name}", error.message)
    try:
        swept = sweep.expand_points(spec, parameters)
    except sweep.SweepError as error:
        wrong.update({name: message for name, message in error.errors.items() if name not in wrong})
    if wrong:
        return []
    points = []
    try:
        for values in swept:
            point = fixed | values
            own = tool.clean(setting_names.own_parameters(point))
            points.append(
                own | {name: text for name, text in point.items() if text and setting_names.is_setting(name)}
            )
    except ParameterError as error:
        # One point is enough to say what is wrong; the others most often fail alike.
        wrong.update(_named(error.errors, spec))
    if points and bounded.too_long(Trial, parameters=max(points, key=lambda point: len(str(point)))):
        text = _("The parameters of a trial are longer than what is kept of one: write shorter texts.")
        wrong["fixed"] = Message(text)
    return points


def _check_casts(tool: Tool, cast: Cast, points: Iterable[Params], spec: sweep.SweepSpec, wrong: Errors) -> None:
    """Refuse what the tool can not do with so many nodes; they are as many in each cast."""
    for point in points:
        if refused := tool.check_cast(point, cast.counts):
            wrong.update(_named(refused, spec))
            return


def _named(refused: Mapping[str, Message], spec: sweep.SweepSpec) -> Errors:
    return {f"factors.{name}" if name in spec.factors else f"fixed.{name}": text for name, text in refused.items()}
