"""The places of a comparison's table: figures by set, axis, series, and whatever else was set differently."""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, repeat

from apps.bench import statistics
from apps.bench.comparison import Centre, Contrast
from apps.bench.statistics import Modes
from apps.comparison.comparisons import factors
from apps.comparison.comparisons.factors import VariedFactor
from apps.comparison.comparisons.figure_rows import Gathered
from apps.results.theory import length_of

Key = tuple[int, Hashable, Hashable, tuple[Hashable, ...]]
Fixed = list[tuple[VariedFactor, str]]
Spread = tuple[tuple[str, ...], ...]


@dataclass
class ComparisonCell:
    """The figures of one place: a set, a value of the axis, one of the series, and those of the factors told apart.

    `settings` counts what is put together here all the same (nodes that no other set has); outliers and modes are
    those of one.
    """

    set: int
    x: Hashable
    series: Hashable
    rest: tuple[Hashable, ...] = ()
    values: list[float] = field(default_factory=list)
    trials: list[int] = field(default_factory=list)
    loads: list[tuple[int, int | None]] = field(default_factory=list)
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
        return self.set, self.x, self.series, self.rest


def cells_of(
    gathered: Gathered,
    axis: VariedFactor,
    series: VariedFactor | None,
    fixed: Fixed,
    apart: list[VariedFactor],
    pooled: list[VariedFactor],
) -> list[ComparisonCell]:
    """Return the places that have figures, in the order of the axis, the series, the rest and the sets.

    Places that differ in a factor of `apart` are never one; those that differ in one of `pooled` are.
    """
    names = [factor.name for factor in apart]
    cells: dict[Key, ComparisonCell] = {}
    settings: dict[Key, set[Hashable]] = defaultdict(set)
    for place, rows in enumerate(gathered.rows):
        xs = repeat(place) if axis.name == factors.SET else factors.column_of(axis.name, place, gathered)
        others = factors.column_of(series.name, place, gathered) if series else repeat(None)
        rests = factors.settings_of(names, place, gathered)
        pools = factors.settings_of([factor.name for factor in pooled], place, gathered)
        row_settings = zip(rows, xs, others, rests, pools, strict=False)
        for row, x, other, rest, setting in compress(row_settings, within(fixed, place, gathered)):
            key = (place, x, other, rest)
            cell = cells.get(key) or cells.setdefault(key, ComparisonCell(*key))
            cell.values.extend(row.values)
            cell.trials.extend(row.trials)
            cell.loads.append((row.lane, length_of(row.parameters)))
            settings[key].add(setting)
    for key, cell in cells.items():
        cell.settings = len(settings[key])
    return sorted(
        cells.values(),
        key=lambda cell: (
            axis.place(cell.x),
            series.place(cell.series) if series else 0,
            tuple(factor.place(value) for factor, value in zip(apart, cell.rest, strict=True)),
            cell.set,
        ),
    )


def within(fixed: Fixed, place: int, gathered: Gathered) -> list[bool]:
    """Say of each row of a set whether it has the values that factors are fixed at."""
    matches = [True] * len(gathered.rows[place])
    for factor, text in fixed:
        target = factor.values[factor.keys.index(text)]
        column = factors.column_of(factor.name, place, gathered)
        matches = [so_far and value == target for so_far, value in zip(matches, column, strict=True)]
    return matches


def spread_of(gathered: Gathered, factor: VariedFactor, fixed: Fixed) -> Spread:
    """Return the texts of the values that each set has of a factor, in their order."""
    by_set = [
        set(compress(factors.column_of(factor.name, place, gathered), within(fixed, place, gathered)))
        for place in range(len(gathered.rows))
    ]
    return tuple(tuple(map(factor.text, sorted(values, key=factor.place))) for values in by_set)
