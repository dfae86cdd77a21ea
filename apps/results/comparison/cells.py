"""The places of a comparison's table: figures by set, axis and series."""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

from apps.bench import statistics
from apps.bench.comparison import Centre, Contrast
from apps.bench.statistics import Modes
from apps.results.comparison import factors
from apps.results.comparison.factors import Factor
from apps.results.comparison.gathering import Gathered, Row

Key = tuple[int, Hashable, Hashable]
Fixed = list[tuple[Factor, str]]
Spread = tuple[frozenset[str], ...]


@dataclass
class Cell:
    """The figures of one place: a set, a value of the axis, and one of the series.

    `settings` counts the points of sweeps that are put together here; outliers and modes are those of one.
    """

    set: int
    x: Hashable
    series: Hashable
    values: list[float] = field(default_factory=list)
    trials: list[int] = field(default_factory=list)
    settings: int = 0
    centre: Centre = field(default_factory=lambda: Centre(0.0, None, None))
    contrast: Contrast | None = None
    is_baseline: bool = False

    @property
    def n(self) -> int:
        """Return the number of figures."""
        return len(self.values)

    @cached_property
    def outliers(self) -> tuple[tuple[int, float], ...]:
        """Return (trial, figure) of those that stand apart."""
        places = statistics.find_outliers(self.values) if self.settings == 1 else ()
        return tuple((self.trials[place], self.values[place]) for place in places)

    @cached_property
    def modes(self) -> Modes | None:
        """Return the two modes of the figures, None if they are one."""
        return statistics.find_modes(self.values) if self.settings == 1 else None

    @property
    def key(self) -> Key:
        """Return the place."""
        return self.set, self.x, self.series


def cells_of(gathered: Gathered, axis: Factor, series: Factor | None, fixed: Fixed, hidden: list[str]) -> list[Cell]:
    """Return the places that have figures, in the order of the axis, the series and the sets.

    `hidden` names the parameters that vary but are neither on the axis nor series nor fixed.
    """
    cells: dict[Key, Cell] = {}
    settings: dict[Key, set[Hashable]] = defaultdict(set)
    on_axis = factors.reader_of(axis.name, gathered)
    on_series = factors.reader_of(series.name, gathered) if series else None
    for place, rows in enumerate(gathered.rows):
        for row in rows:
            if fixed and not is_fixed(row, fixed, gathered):
                continue
            x = place if axis.name == factors.SET else on_axis(row)
            other = on_series(row) if on_series else None
            key = (place, x, other)
            cell = cells.get(key) or cells.setdefault(key, Cell(*key))
            cell.values.extend(row.values)
            cell.trials.extend(row.trials)
            settings[key].add(tuple(str(row.parameters.get(name)) for name in hidden))
    for key, cell in cells.items():
        cell.settings = len(settings[key])
    return sorted(
        cells.values(),
        key=lambda cell: (axis.place(cell.x), series.place(cell.series) if series else 0, cell.set),
    )


def is_fixed(row: Row, fixed: Fixed, gathered: Gathered) -> bool:
    """Return whether a row has the values that factors are fixed at."""
    return all(factors.key_of(factors.value_of(row, factor.name, gathered)) == text for factor, text in fixed)


def spread_of(gathered: Gathered, factor: Factor, fixed: Fixed) -> Spread:
    """Return the texts of the values that each set has of a factor."""
    read = factors.reader_of(factor.name, gathered)
    found = [{read(row) for row in rows if not fixed or is_fixed(row, fixed, gathered)} for rows in gathered.rows]
    return tuple(frozenset(map(factor.text, values)) for values in found)
