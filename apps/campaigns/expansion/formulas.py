"""Parameters that are formulas over earlier experiments: checked, and computed once those are done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from apps.bench import units
from apps.bench.sweep import references
from apps.bench.sweep.exclusions import ExclusionError, compile_exclusion
from apps.bench.sweep.references import Formula, FormulaError, Reference
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter
from apps.campaigns.expansion.casts import Errors
from apps.campaigns.models import Experiment
from apps.toolbox import queries as toolbox

# Gives what the trials of an experiment measured of a metric, in the metric's base unit.
Figures = Callable[[Experiment, str], Sequence[float]]


@dataclass
class SweepTexts:
    """An experiment's texts with formulas computed or, if they stay `open`, with a stand-in for each.

    `copies` is how many values the open ones will make of each point that the others make.
    """

    factors: list[tuple[str, str]] = field(default_factory=list)
    fixed: dict[str, str] = field(default_factory=dict)
    exclusions: list[str] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)
    resolved: dict[str, str] = field(default_factory=dict)
    copies: int = 1


def ancestors_of(experiment: Experiment) -> list[Experiment]:
    """Return the experiments that this one waits for, the nearest first."""
    ancestors: list[Experiment] = []
    earlier = experiment.after
    while earlier is not None and earlier not in ancestors:
        ancestors.append(earlier)
        earlier = earlier.after
    return ancestors


def read(
    experiment: Experiment, parameters: Mapping[str, Parameter], figures: Figures | None, wrong: Errors
) -> SweepTexts:
    """Return the experiment's texts as a sweep takes them, and fill in `wrong` where a formula is."""
    texts = [(f"factors.{item['name']}", item["name"], item["expression"]) for item in experiment.factors]
    fixed = [(f"fixed.{name}", name, text) for name, text in experiment.fixed.items()]
    written = [item for item in [*texts, *fixed] if references.is_formula(item[2])]
    sweep_texts = SweepTexts(
        [(name, text) for _f, name, text in texts], dict(experiment.fixed), list(experiment.exclusions)
    )
    if not written:
        return sweep_texts
    earlier = {item.name: item for item in reversed(ancestors_of(experiment))}
    values: dict[str, str] = {}
    for place, name, text in written:
        try:
            formula = _check(place, name, text, parameters, earlier)
            if name not in parameters:
                continue
            if figures is None:
                values[name] = _stand_in(parameters[name])
                sweep_texts.open[name] = text.strip()
                sweep_texts.copies *= formula.count
            else:
                values[name] = references.resolve_formula(text, parameters[name], _lookup(figures, earlier))
                sweep_texts.resolved[name] = values[name]
        except FormulaError as error:
            wrong[place] = error.message
    if sweep_texts.open:
        _leave_open(experiment, sweep_texts, parameters, wrong)
    sweep_texts.factors = [(name, values.get(name, text)) for name, text in sweep_texts.factors]
    sweep_texts.fixed = {name: values.get(name, text) for name, text in sweep_texts.fixed.items()}
    return sweep_texts


def _lookup(figures: Figures, earlier: Mapping[str, Experiment]) -> Callable[[Reference], Sequence[float]]:
    return lambda reference: figures(earlier[reference.experiment], reference.metric)


def _check(
    place: str, name: str, text: str, parameters: Mapping[str, Parameter], earlier: Mapping[str, Experiment]
) -> Formula:
    """Return the formula if all that it refers to will have been measured by then."""
    formula = references.parse_formula(text)
    if name in parameters and parameters[name].kind in ("text", "choice", "boolean"):
        raise FormulaError(Message(_("%(name)s is no number, so no formula can give it."), {"name": name}))
    if formula.count > 1 and place.startswith("fixed."):
        raise FormulaError(Message(_("A list of values sweeps the parameter: make it a factor.")))
    for reference in formula.references:
        if reference.experiment not in earlier:
            values = {"experiment": reference.experiment, "known": ", ".join(earlier) or "–"}
            unknown = _(
                "“%(experiment)s” is no experiment that this one waits for (%(known)s): choose it under “Waits for”, "
                "or correct the name."
            )
            raise FormulaError(Message(unknown, values))
        metrics = [metric.name for metric in toolbox.get_tool(earlier[reference.experiment].tool).metrics]
        if reference.metric not in metrics:
            values = {**vars(reference), "known": ", ".join(metrics)}
            unknown = _("%(experiment)s measures no “%(metric)s”; choose one of: %(known)s.")
            raise FormulaError(Message(unknown, values))
    return formula


def _stand_in(parameter: Parameter) -> str:
    """Return a value that the tool takes, for what is not known yet."""
    value = parameter.default
    if value in (None, ""):
        value = parameter.minimum or 1
    return units.canonical_text(value, parameter.kind)


def _leave_open(
    experiment: Experiment, sweep_texts: SweepTexts, parameters: Mapping[str, Parameter], wrong: Errors
) -> None:
    """Put off what depends on values that are not known yet, and refuse what never could."""
    for index, names in enumerate(experiment.zips):
        if set(names) & set(sweep_texts.open):
            text = _("A parameter that is a formula can not vary together with others: take it out of the group.")
            wrong[f"zips.{index}"] = Message(text)
    named = {
        name: parameters[name] for name in (*dict(sweep_texts.factors), *sweep_texts.fixed) if name in parameters
    }
    exclusions = []
    for index, condition in enumerate(sweep_texts.exclusions):
        try:
            if not compile_exclusion(condition, named).names.keys() & sweep_texts.open.keys():
                exclusions.append(condition)
        except ExclusionError as error:
            wrong[f"exclusions.{index}"] = error.message
    sweep_texts.exclusions = exclusions
