"""Where figures stand in a comparison's table: its axis, its series, and what becomes of all else that varies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from apps.bench.sweep import likeness
from apps.bench.text import Message, _
from apps.comparison.comparisons import factors
from apps.comparison.comparisons.factors import VariedFactor
from apps.comparison.comparisons.gathering import Gathering
from apps.comparison.comparisons.state import ComparisonState
from apps.core import contract

Spread = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class TableLayout:
    """The factors of the axis and the series, those with a fixed value, and those that stand nowhere.

    No figure is a mean over settings that differ: what varies within a set (`apart`) has places of its own. So have
    nodes, tools and file systems if all sets have the same ones; where each has its own, there would be nothing to
    compare, and figures are means over them (`averaged`). `once` are parameters set once for each set: (label, texts
    of each set). `has_fixed` says of each row of each set whether it has the fixed values.
    """

    axis: VariedFactor
    series: VariedFactor | None
    fixed: tuple[tuple[VariedFactor, str], ...]
    apart: tuple[VariedFactor, ...]
    averaged: tuple[VariedFactor, ...]
    once: tuple[tuple[str, Spread], ...]
    has_fixed: tuple[Sequence[bool], ...]
    # What the address asks for and is not there, by its parameter: {"x": [message]}.
    missing: Mapping[str, list[Message]]


def lay_out(gathering: Gathering) -> TableLayout:
    """Return the layout that the state asks for, the usual one where it says nothing or what is not there."""
    choice, columns = gathering.choice, gathering.columns
    state = choice.state
    by_name = {factor.name: factor for factor in gathering.factors}
    asked = dict.fromkeys((state.axis, state.series, *(name for name, _text in state.fixed)))
    axes = by_name | {name: gathering.constants[name] for name in asked if name in gathering.constants}
    sets = gathering.sets
    axis = axes.get(state.axis) or (sets if state.axis == factors.SET else _usual_axis(gathering.factors, sets))
    series = axes.get(state.series) if state.series != axis.name else None
    fixed = tuple((axes[name], text) for name, text in state.fixed if name in axes and text in axes[name].keys)
    has_fixed = tuple(_has_fixed(fixed, gathering, place) for place in range(len(choice.titles)))
    placed = {axis.name, series.name if series else "", *(factor.name for factor, _text in fixed)}
    apart, averaged, once = [], [], []
    for factor in gathering.factors:
        if factor.name in placed:
            continue
        value_sets = [set(compress(own, rows)) for own, rows in zip(columns[factor.name], has_fixed, strict=True)]
        is_common = len({frozenset(values) for values in value_sets if values}) == 1
        varies = any(len(values) > 1 for values in value_sets)
        if factor.is_parameter and not varies:
            # That settings are not known is no difference between them: see `ComparedSets.untold`.
            if likeness.is_told(factor.name):
                once.append((factor.label, tuple(factor.texts_of(values) for values in value_sets)))
        elif varies and (factor.is_parameter or (factor.name in factors.APART and is_common)):
            apart.append(factor)
        elif varies and factor.name in factors.APART:
            averaged.append(factor)
    missing = _missing_metric(state, [metric.name for metric in choice.metrics])
    # Where there are no figures yet, nothing is missed of them.
    if any(any(rows) for rows in has_fixed):
        missing |= _missing_factors(state, axis, series, axes)
    return TableLayout(axis, series, fixed, tuple(apart), tuple(averaged), tuple(once), has_fixed, missing)


def _usual_axis(varied: Sequence[VariedFactor], sets: VariedFactor) -> VariedFactor:
    """Return the first factor that varies, a number if there is one; the sets if nothing does."""
    parameters = [factor for factor in varied if factor.is_parameter and likeness.is_told(factor.name)]
    numbers = [factor for factor in parameters if factor.numeric]
    nodes = [factor for factor in varied if factor.name == factors.NODES]
    return next(iter([*numbers, *parameters, *([] if len(sets.values) > 1 else nodes)]), sets)


def _has_fixed(fixed: Sequence[tuple[VariedFactor, str]], gathering: Gathering, place: int) -> list[bool]:
    matches = [True] * len(gathering.figures.rows[place])
    for factor, text in fixed:
        target = factor.values[factor.keys.index(text)]
        column = gathering.columns[factor.name][place]
        matches = [so_far and value == target for so_far, value in zip(matches, column, strict=True)]
    return matches


def _missing_metric(state: ComparisonState, names: Sequence[str]) -> dict[str, list[Message]]:
    if not state.metric or not names or state.metric in names:
        return {}
    text = _("There is no metric “%(name)s” here; there are: %(known)s.")
    return {"metric": [_refusal(text, state.metric, names)]}


def _missing_factors(
    state: ComparisonState, axis: VariedFactor, series: VariedFactor | None, axes: Mapping[str, VariedFactor]
) -> dict[str, list[Message]]:
    """Return {parameter of the address: [message]} of factors and values that results (`axes`) do not have."""
    errors: dict[str, list[Message]] = {}
    text = _("There is no factor “%(name)s” here; there are: %(known)s.")
    if state.axis and state.axis != axis.name:
        errors["x"] = [_refusal(text, state.axis, [factors.SET, *axes])]
    if state.series and state.series not in axes and state.series != axis.name:
        errors["by"] = [_refusal(text, state.series, axes)]
    for name, value in state.fixed:
        if name not in axes:
            errors.setdefault("fix", []).append(_refusal(text, name, axes))
        elif value not in axes[name].keys:
            errors.setdefault("fix", []).append(_no_value(value, axes[name]))
    for factor, base_value in ((axis, state.base_axis), (series, state.base_series)):
        if base_value is not None and (factor is None or factor.name == factors.SET or base_value not in factor.keys):
            errors["base"] = [_no_value(base_value, factor)]
    return errors


def _no_value(value: str, factor: VariedFactor | None) -> Message:
    keys = factor.keys if factor and factor.name != factors.SET else ()
    return _refusal(_("There is no value “%(name)s” here; there are: %(known)s."), value, keys)


def _refusal(text: str, name: str, choices: Iterable[str]) -> Message:
    return Message(text, {"name": name[:100], "known": contract.listed(choices)})
