"""What varies within and between sets: factors for the axis and the series, their values and how these are shown."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from apps.bench import units
from apps.results import charts, queries
from apps.results.comparison.gathering import Gathered, Row
from apps.results.comparison.sets import text_of

# Factors that are no parameters: what was measured, with what, between which nodes.
SET, NODES, EXPERIMENT, CAMPAIGN, TOOL, FILE_SYSTEM = "set", "nodes", "experiment", "campaign", "tool", "file-system"
_PLAIN = (str, int, float)
PSEUDO = (NODES, EXPERIMENT, CAMPAIGN, TOOL, FILE_SYSTEM)


@dataclass(frozen=True)
class Factor:
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


def reader_of(name: str, gathered: Gathered) -> Callable[[Row], Hashable]:
    """Return what reads a factor's value of a row, for loops over many rows."""
    if name in PSEUDO:
        return lambda row: value_of(row, name, gathered)
    return lambda row: _hashable(row.parameters.get(name))


def value_of(row: Row, name: str, gathered: Gathered) -> Hashable:
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


def varied(gathered: Gathered) -> list[Factor]:
    """Return the factors with more than one value over all sets: those of the experiments' definitions first."""
    rows = [row for found in gathered.rows for row in found]
    defined = [item["name"] for experiment in gathered.experiments.values() for item in experiment.factors]
    names = dict.fromkeys(defined)
    for row in rows:
        names |= row.parameters
    found = [(name, _seen(name, rows)) for name in names]
    found += [(name, set(map(reader_of(name, gathered), rows))) for name in PSEUDO]
    return [_factor(name, seen, gathered) for name, seen in found if len(seen) > 1]


def of_sets(names: Iterable[str]) -> Factor:
    """Return the sets themselves as a factor, its values being their places."""
    texts = tuple(names)
    return Factor(SET, _("Sets"), "", tuple(range(len(texts))), texts, numeric=False)


def _seen(name: str, rows: list[Row]) -> set[Hashable]:
    """Return the values that rows have of a parameter."""
    try:
        return {row.parameters.get(name) for row in rows}
    except TypeError:
        return {_hashable(row.parameters.get(name)) for row in rows}


def _factor(name: str, seen: set[Hashable], gathered: Gathered) -> Factor:
    values = tuple(sorted(seen, key=_order))
    numeric = name not in PSEUDO and bool(values) and all(_is_number(value) for value in values)
    label, unit, texts = name, "", tuple(str(value) for value in values)
    if name in PSEUDO:
        label, texts = _pseudo_label(name), tuple(_pseudo_text(name, value, gathered) for value in values)
    elif tool := next((tool for tool in gathered.tools.values() if queries.parameter_of(tool, name)), None):
        parameter = queries.parameter_of(tool, name)
        label, unit = charts.label_of_factor(tool, name), parameter.unit if parameter else ""
        texts = tuple(charts.text_of(parameter, value, {}) for value in values)
    return Factor(name, label, unit, values, texts, numeric)


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
        return next(str(item.campaign) for item in experiments if item.campaign_id == value)
    if name == TOOL:
        return gathered.tools[value].name
    if name == FILE_SYSTEM:
        return next((str(item.file_system) for item in experiments if item.file_system_id == value and value), "–")
    return str(value)


def _hashable(value: object) -> Hashable:
    """Return a parameter's value; a list is no key of a table, so it is its text."""
    return value if value is None or isinstance(value, _PLAIN) else str(value)


def _order(value: Hashable) -> tuple[int, Any]:
    if value is None:
        return (0, "")
    return (1, value) if _is_number(value) else (2, str(value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def quantity(value: float | None, unit: str) -> str:
    """Return a figure with its unit."""
    return "–" if value is None else units.format_quantity(value, unit)
