"""The independent axes of a sweep: one a factor, or one a group of zipped factors."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.bench import units
from apps.bench.sweep.errors import SweepError
from apps.bench.sweep.exclusions import Exclusion, ExclusionError, compile_exclusion
from apps.bench.sweep.spec import MAX_CANDIDATES, Parameters, SweepSpec, check_schedule
from apps.bench.sweep.values import read_value, read_values
from apps.bench.text import Message, _

MAX_EXCLUSIONS = 20


@dataclass(frozen=True)
class Axis:
    """Factors that vary together: each row holds one value a name; `repeated` rows came again and were dropped."""

    names: tuple[str, ...]
    rows: tuple[tuple[units.Value, ...], ...]
    repeated: int = 0


@dataclass(frozen=True)
class Grid:
    """A sweep that has been read: its axes in order, the first varying slowest, fixed values and exclusions."""

    axes: tuple[Axis, ...]
    fixed: Mapping[str, units.Value]
    exclusions: tuple[Exclusion, ...]

    @property
    def candidates(self) -> int:
        """Return how many points there are before exclusions."""
        return math.prod(len(axis.rows) for axis in self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the factors in the order of the axes."""
        return tuple(name for axis in self.axes for name in axis.names)


def read_grid(spec: SweepSpec, parameters: Parameters) -> Grid:
    """Return the grid of a spec; SweepError names every field that is wrong."""
    errors = check_schedule(spec)
    values: dict[str, list[units.Value]] = {}
    for name, expression in spec.factors.items():
        if name not in parameters:
            errors[f"factors.{name}"] = _unknown_parameter(name, parameters)
            continue
        try:
            values[name] = read_values(parameters[name], expression)
        except SweepError as error:
            errors |= error.errors
    fixed, fixed_errors = _read_fixed(spec, parameters)
    groups, zip_errors = _read_zips(spec, values)
    errors |= fixed_errors | zip_errors
    if errors:
        raise SweepError(errors)
    axes = tuple(_make_axis(names, values) for names in groups)
    exclusions = _read_exclusions(spec, {name: parameters[name] for name in (*values, *fixed)})
    grid = Grid(axes, fixed, exclusions)
    if grid.candidates > MAX_CANDIDATES:
        raise SweepError(
            {
                "trials": Message(
                    _("This sweep has %(count)s combinations, more than %(limit)s: sweep fewer values or factors."),
                    {"count": grid.candidates, "limit": MAX_CANDIDATES},
                )
            }
        )
    return grid


def _read_fixed(spec: SweepSpec, parameters: Parameters) -> tuple[dict[str, units.Value], dict[str, Message]]:
    """Return the fixed values; one left blank keeps the tool's default and so is not among them."""
    fixed: dict[str, units.Value] = {}
    errors: dict[str, Message] = {}
    for name, text in spec.fixed.items():
        if name not in parameters:
            errors[f"fixed.{name}"] = _unknown_parameter(name, parameters)
        elif name in spec.factors:
            errors[f"fixed.{name}"] = Message(
                _("%(name)s is swept as well as fixed: remove it from one of the two."), {"name": name}
            )
        elif text.strip():
            try:
                fixed[name] = read_value(parameters[name], text)
            except units.UnitError as error:
                errors[f"fixed.{name}"] = error.message
    return fixed, errors


def _read_zips(
    spec: SweepSpec, values: Mapping[str, list[units.Value]]
) -> tuple[list[tuple[str, ...]], dict[str, Message]]:
    """Return the names of each axis, in the order of the factors, and what is wrong with the zips."""
    group_of: dict[str, tuple[str, ...]] = {}
    errors: dict[str, Message] = {}
    for index, names in enumerate(spec.zips):
        refusal = _refuse_zip(names, spec, values, group_of)
        if refusal:
            errors[f"zips.{index}"] = refusal
        group_of |= dict.fromkeys(names, tuple(names))
    groups = dict.fromkeys(group_of.get(name, (name,)) for name in spec.factors)
    return list(groups), errors


def _refuse_zip(
    names: Sequence[str],
    spec: SweepSpec,
    values: Mapping[str, list[units.Value]],
    group_of: Mapping[str, tuple[str, ...]],
) -> Message | None:
    if len(set(names)) < 2 or len(set(names)) < len(names):
        return Message(_("Zip two or more different factors, or none."))
    for name in names:
        if name not in spec.factors:
            return Message(_("“%(name)s” is zipped but not swept: give it values, or unzip it."), {"name": name})
        if name in group_of:
            return Message(_("%(name)s is zipped twice: put it into one group only."), {"name": name})
    # A factor whose values could not be read has its own error already.
    lengths = {name: len(values[name]) for name in names if name in values}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        return Message(
            _("Zipped factors need equally many values, but here are %(counts)s: make them equal, or unzip them."),
            {"counts": counts},
        )
    return None


def _make_axis(names: tuple[str, ...], values: Mapping[str, list[units.Value]]) -> Axis:
    rows = list(zip(*(values[name] for name in names), strict=True))
    distinct = tuple(dict.fromkeys(rows))
    return Axis(names, distinct, len(rows) - len(distinct))


def _read_exclusions(spec: SweepSpec, parameters: Parameters) -> tuple[Exclusion, ...]:
    if len(spec.exclusions) > MAX_EXCLUSIONS:
        raise SweepError(
            {
                "exclusions": Message(
                    _("There are too many exclusions: join them by “or” to have at most %(limit)s."),
                    {"limit": MAX_EXCLUSIONS},
                )
            }
        )
    errors: dict[str, Message] = {}
    exclusions = []
    for index, text in enumerate(spec.exclusions):
        try:
            exclusions.append(compile_exclusion(text, parameters))
        except ExclusionError as error:
            errors[f"exclusions.{index}"] = error.message
    if errors:
        raise SweepError(errors)
    return tuple(exclusions)


def _unknown_parameter(name: str, parameters: Parameters) -> Message:
    return Message(
        _("The tool has no parameter “%(name)s”: choose from %(known)s."),
        {"name": name, "known": ", ".join(parameters)},
    )
