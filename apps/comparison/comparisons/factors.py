"""What varies within and between sets: factors for the axis and the series, their values and how these are shown."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from django.utils.translation import gettext as _

from apps.bench.sweep import likeness
from apps.comparison.comparisons.figure_rows import FigureRow, FigureRows
from apps.results import charts, queries
from apps.results.addresses import text_of

# Factors that are no parameters: what was measured, with what, between which nodes.
SET, NODES, EXPERIMENT, CAMPAIGN, TOOL, FILE_SYSTEM = "set", "nodes", "experiment", "campaign", "tool", "file-system"
_PLAIN = frozenset({str, int, float, bool, type(None)})
PSEUDO = (NODES, EXPERIMENT, CAMPAIGN, TOOL, FILE_SYSTEM)
# Of these what was measured depends as much as on what was set.
APART = (NODES, TOOL, FILE_SYSTEM)

# {factor: its value for each row, in their order, of each set}.
Columns = Mapping[str, tuple[Sequence[Hashable], ...]]


@dataclass(frozen=True)
class VariedFactor:
    """Something that varies: its values in their order; `numeric` ones are numbers in `unit`, all of them.

    `texts` are for readers, `keys` for addresses.
    """

    name: str
    label: str
    unit: str
    values: tuple[Hashable, ...]
    texts: tuple[str, ...]
    keys: tuple[str, ...]
    numeric: bool

    @property
    def is_parameter(self) -> bool:
        """Return whether it is set for each trial, and not a property of what was measured."""
        return self.name not in PSEUDO and self.name != SET

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {value: place for place, value in enumerate(self.values)}

    def place(self, value: Hashable) -> int:
        """Return the place of a value."""
        return self._places[value]

    def text(self, value: Hashable) -> str:
        """Return a value as a reader writes it."""
        return self.texts[self._places[value]]

    def texts_of(self, values: Iterable[Hashable]) -> tuple[str, ...]:
        """Return several values as a reader writes them, in their order."""
        return tuple(self.texts[place] for place in sorted(map(self.place, values)))

    def value_at(self, key: str, otherwise: Hashable) -> Hashable:
        """Return the value that an address writes so, `otherwise` if there is none."""
        return self.values[self.keys.index(key)] if key in self.keys else otherwise

    @property
    def is_log(self) -> bool:
        """Return whether its numbers are better told apart by ratio."""
        numbers = [value for value in self.values if isinstance(value, int | float)]
        return self.numeric and min(numbers) > 0 and max(numbers) >= charts.LOG_FROM * min(numbers)


def columns_of(figures: FigureRows) -> Columns:
    """Return the values of all that rows may differ in: the factors of the experiments' definitions come first."""
    names = dict.fromkeys(factor["name"] for item in figures.choice.experiments.values() for factor in item.factors)
    for row in chain.from_iterable(figures.rows):
        names |= row.parameters
    return {name: tuple(_column(name, rows, figures) for rows in figures.rows) for name in [*names, *PSEUDO]}


def factors_of(columns: Columns, figures: FigureRows) -> tuple[tuple[VariedFactor, ...], dict[str, VariedFactor]]:
    """Return the factors with more than one value over all sets, and by name those that all results have one of."""
    varied, constant = [], {}
    for name, by_set in columns.items():
        values = set(chain.from_iterable(by_set))
        if len(values) > 1:
            varied.append(_factor(name, values, figures))
        elif _is_held(name, figures):
            constant[name] = _factor(name, values, figures)
    return tuple(varied), constant


def of_sets(titles: Iterable[str]) -> VariedFactor:
    """Return the sets themselves as a factor, its values being their places."""
    texts = tuple(titles)
    places = tuple(range(len(texts)))
    return VariedFactor(SET, _("Sets"), "", places, texts, tuple(map(text_of, places)), numeric=False)


def untold_of(varied: Iterable[VariedFactor], figures: FigureRows) -> tuple[str, ...]:
    """Return the labels of the settings that nobody told of some results, and that may differ between them."""
    if all(likeness.is_told(factor.name) for factor in varied):
        return ()
    labels: dict[str, None] = {}
    for row in chain.from_iterable(figures.rows):
        labels |= {_(item.label): None for item in likeness.unknown_of(figures.tool_of(row), row.parameters)}
    return tuple(labels)


def value_of(row: FigureRow, name: str, figures: FigureRows) -> Hashable:
    """Return the value that a row has of a factor."""
    if name == NODES:
        return figures.pairs[row.lane]
    if name == EXPERIMENT:
        return row.experiment
    experiment = figures.choice.experiments[row.experiment]
    if name == CAMPAIGN:
        return experiment.campaign_id
    if name == TOOL:
        return experiment.tool
    if name == FILE_SYSTEM:
        return experiment.file_system_id
    return _hashable(row.parameters.get(name))


def _is_held(name: str, figures: FigureRows) -> bool:
    rows = chain.from_iterable(figures.rows)
    return any(name in PSEUDO or name in row.parameters for row in rows)


def _column(name: str, rows: Sequence[FigureRow], figures: FigureRows) -> list[Hashable]:
    if name in PSEUDO:
        # What is no parameter is one for all of a lane.
        lanes = {lane: value_of(row, name, figures) for lane, row in {row.lane: row for row in rows}.items()}
        return [lanes[row.lane] for row in rows]
    values = [row.parameters.get(name) for row in rows]
    return values if _PLAIN.issuperset(map(type, values)) else list(map(_hashable, values))


def _factor(name: str, keys: set[Hashable], figures: FigureRows) -> VariedFactor:
    values = tuple(sorted(keys, key=_order))
    numeric = name not in PSEUDO and bool(values) and all(_is_number(value) for value in values)
    label, unit, texts = name, "", tuple(_("not given") if value is None else str(value) for value in values)
    if name in PSEUDO:
        label, texts = _pseudo_label(name), tuple(_pseudo_text(name, value, figures) for value in values)
    elif tool := next((tool for tool in figures.choice.tools.values() if queries.parameter_of(tool, name)), None):
        parameter = queries.parameter_of(tool, name)
        label, unit = charts.label_of_factor(tool, name), parameter.unit if parameter else ""
        absent = _absent(name, figures)
        texts = tuple(absent if value is None else charts.text_of(parameter, value, {}) for value in values)
    return VariedFactor(name, label, unit, values, texts, tuple(map(text_of, values)), numeric)


def _absent(name: str, figures: FigureRows) -> str:
    """Return what is said where there is no value: nobody told it of an import, or another tool has no such thing."""
    owned = [queries.parameter_of(tool, name) for tool in figures.choice.tools.values()]
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


def _pseudo_text(name: str, value: Any, figures: FigureRows) -> str:
    if name == EXPERIMENT:
        return figures.choice.experiments[value].name
    experiments = figures.choice.experiments.values()
    if name == CAMPAIGN:
        campaign = next(item.campaign for item in experiments if item.campaign_id == value)
        return figures.choice.named(campaign)
    if name == TOOL:
        return figures.choice.tools[value].name
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
