"""What varies within and between sets: factors for the axis and the series, their values and how these are shown."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any

from django.utils.translation import gettext as _

from apps.bench import units
from apps.bench.sweep import likeness
from apps.comparison.comparisons.figure_rows import FigureRow, Gathered
from apps.comparison.comparisons.sets import text_of
from apps.results import charts, queries

# Factors that are no parameters: what was measured, with what, between which nodes.
SET, NODES, EXPERIMENT, CAMPAIGN, TOOL, FILE_SYSTEM = "set", "nodes", "experiment", "campaign", "tool", "file-system"
_PLAIN = frozenset({str, int, float, bool, type(None)})
PSEUDO = (NODES, EXPERIMENT, CAMPAIGN, TOOL, FILE_SYSTEM)
# Of these what was measured depends as much as on what was set.
APART = (NODES, TOOL, FILE_SYSTEM)


@dataclass(frozen=True)
class VariedFactor:
    """Something that varies: its values in their order; `numeric` ones are numbers in `unit`, all of them."""

    name: str
    label: str
    unit: str
    values: tuple[Hashable, ...]
    texts: tuple[str, ...]
    numeric: bool

    @property
    def is_parameter(self) -> bool:
        """Return whether it is set for each trial, and not a property of what was measured."""
        return self.name not in PSEUDO and self.name != SET

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the values as addresses write them."""
        return tuple(key_of(value) for value in self.values)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {value: place for place, value in enumerate(self.values)}

    def place(self, value: Hashable) -> int:
        """Return the place of a value."""
        return self._places[value]

    def text(self, value: Hashable) -> str:
        """Return a value as a reader writes it."""
        return self.texts[self._places[value]]

    @property
    def is_log(self) -> bool:
        """Return whether its numbers are better told apart by ratio."""
        numbers = [value for value in self.values if isinstance(value, int | float)]
        return self.numeric and min(numbers) > 0 and max(numbers) >= charts.LOG_FROM * min(numbers)


def key_of(value: Hashable) -> str:
    """Return a value as addresses write it."""
    return text_of(value)


def column_of(name: str, place: int, gathered: Gathered) -> list[Hashable]:
    """Return the value of a factor that each row of a set has, in the order of the rows."""
    if (name, place) not in gathered.columns:
        gathered.columns[name, place] = _column(name, gathered.rows[place], gathered)
    return gathered.columns[name, place]


def settings_of(names: Iterable[str], place: int, gathered: Gathered) -> Iterable[tuple[Hashable, ...]]:
    """Return the values of several factors that each row of a set has."""
    columns = [column_of(name, place, gathered) for name in names]
    return zip(*columns, strict=True) if columns else repeat((), len(gathered.rows[place]))


def value_of(row: FigureRow, name: str, gathered: Gathered) -> Hashable:
    """Return the value that a row has of a factor."""
    if name == NODES:
        return gathered.nodes_of(row)
    if name == EXPERIMENT:
        return row.experiment
    experiment = gathered.experiments[row.experiment]
    if name == CAMPAIGN:
        return experiment.campaign_id
    if name == TOOL:
        return experiment.tool
    if name == FILE_SYSTEM:
        return experiment.file_system_id
    return _hashable(row.parameters.get(name))


def varied(gathered: Gathered) -> list[VariedFactor]:
    """Return the factors with more than one value over all sets: those of the experiments' definitions first."""
    defined = [item["name"] for experiment in gathered.experiments.values() for item in experiment.factors]
    names = dict.fromkeys(defined)
    for rows in gathered.rows:
        for row in rows:
            names |= row.parameters
    places = range(len(gathered.rows))
    value_sets = [
        (name, set(chain.from_iterable(column_of(name, place, gathered) for place in places)))
        for name in [*names, *PSEUDO]
    ]
    return [_factor(name, keys, gathered) for name, keys in value_sets if len(keys) > 1]


def untold_of(varied: Iterable[VariedFactor], gathered: Gathered) -> tuple[str, ...]:
    """Return the labels of the settings that nobody told of some results, and that may differ between them."""
    if all(likeness.is_told(factor.name) for factor in varied):
        return ()
    labels: dict[str, None] = {}
    for row in chain.from_iterable(gathered.rows):
        labels |= {_(item.label): None for item in likeness.unknown_of(gathered.tool_of(row), row.parameters)}
    return tuple(labels)


def varies_within(factor: VariedFactor, gathered: Gathered) -> bool:
    """Return whether a set has more than one value of a factor."""
    return any(len(set(column_of(factor.name, place, gathered))) > 1 for place in range(len(gathered.rows)))


def constant(names: Iterable[str], gathered: Gathered) -> dict[str, VariedFactor]:
    """Return, of factors that do not vary, those that all results have one value of: {name: factor}."""
    rows = [row for own in gathered.rows for row in own]
    values = {name: {value_of(row, name, gathered) for row in rows} for name in names if _is_held(name, rows)}
    return {name: _factor(name, keys, gathered) for name, keys in values.items()}


def of_sets(names: Iterable[str]) -> VariedFactor:
    """Return the sets themselves as a factor, its values being their places."""
    texts = tuple(names)
    return VariedFactor(SET, _("Sets"), "", tuple(range(len(texts))), texts, numeric=False)


def _is_held(name: str, rows: list[FigureRow]) -> bool:
    return bool(rows) and (name in PSEUDO or any(name in row.parameters for row in rows))


def _column(name: str, rows: list[FigureRow], gathered: Gathered) -> list[Hashable]:
    if name in PSEUDO:
        # What is no parameter is one for all of a lane.
        lanes = {lane: value_of(row, name, gathered) for lane, row in {row.lane: row for row in rows}.items()}
        return [lanes[row.lane] for row in rows]
    values = [row.parameters.get(name) for row in rows]
    return values if _PLAIN.issuperset(map(type, values)) else list(map(_hashable, values))


def _factor(name: str, keys: set[Hashable], gathered: Gathered) -> VariedFactor:
    values = tuple(sorted(keys, key=_order))
    numeric = name not in PSEUDO and bool(values) and all(_is_number(value) for value in values)
    label, unit, texts = name, "", tuple(_("not given") if value is None else str(value) for value in values)
    if name in PSEUDO:
        label, texts = _pseudo_label(name), tuple(_pseudo_text(name, value, gathered) for value in values)
    elif tool := next((tool for tool in gathered.tools.values() if queries.parameter_of(tool, name)), None):
        parameter = queries.parameter_of(tool, name)
        label, unit = charts.label_of_factor(tool, name), parameter.unit if parameter else ""
        absent = _absent(name, gathered)
        texts = tuple(absent if value is None else charts.text_of(parameter, value, {}) for value in values)
    return VariedFactor(name, label, unit, values, texts, numeric)


def _absent(name: str, gathered: Gathered) -> str:
    """Return what is said where there is no value: nobody told it of an import, or another tool has no such thing."""
    owned = [queries.parameter_of(tool, name) for tool in gathered.tools.values()]
    is_unknown = all(parameter is not None and parameter.default is not None for parameter in owned)
    return _("not known") if is_unknown else _("not given")


def _pseudo_label(name: str) -> str:
    labels = {
        NODES: _("Nodes"),
        EXPERIMENT: _("Experiment"),
        CAMPAIGN: _("Campaign"),
        TOOL: _("Tool"),
        FILE_SYSTEM: _("File system"),
    }
    return labels[name]


def _pseudo_text(name: str, value: Any, gathered: Gathered) -> str:
    if name == EXPERIMENT:
        return gathered.experiments[value].name
    experiments = gathered.experiments.values()
    if name == CAMPAIGN:
        return next(gathered.named(item.campaign) for item in experiments if item.campaign_id == value)
    if name == TOOL:
        return gathered.tools[value].name
    if name == FILE_SYSTEM:
        return next((str(item.file_system) for item in experiments if item.file_system_id == value and value), "–")
    return str(value)


def _hashable(value: object) -> Hashable:
    """Return a parameter's value; a list is no key of a table, so it is its text."""
    return value if type(value) in _PLAIN else str(value)


def _order(value: Hashable) -> tuple[int, Any]:
    if value is None:
        return (0, "")
    return (1, value) if _is_number(value) else (2, str(value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def quantity(value: float | None, unit: str) -> str:
    """Return a figure with its unit."""
    return "–" if value is None else units.format_quantity(value, unit)
