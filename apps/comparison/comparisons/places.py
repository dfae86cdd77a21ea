"""The places of a comparison's table: figures by set, axis, series, and whatever else was set differently."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import compress, repeat
from typing import NamedTuple

from apps.comparison.comparisons import factors
from apps.comparison.comparisons.factors import Columns
from apps.comparison.comparisons.gathering import Gathering
from apps.comparison.comparisons.layout import TableLayout
from apps.comparison.comparisons.paths import Load
from apps.results.theory import length_of

# A set, a value of the axis, one of the series, and those of the factors that are told apart.
Key = tuple[int, Hashable, Hashable, tuple[Hashable, ...]]


class FigurePlace(NamedTuple):
    """The figures of one place in the order of measurement, with their trials and loads.

    `settings` counts what is put together here all the same (nodes that no other set has).
    """

    key: Key
    values: tuple[float, ...]
    trials: tuple[int, ...]
    loads: Sequence[Load]
    settings: int


def places_of(gathering: Gathering, layout: TableLayout) -> list[FigurePlace]:
    """Return the places that have figures, in the order of the axis, the series, the rest and the sets.

    Places that differ in a factor that is told apart are never one; those that differ in one averaged over are.
    """
    axis, series, columns = layout.axis, layout.series, gathering.columns
    values: dict[Key, list[float]] = defaultdict(list)
    trials: dict[Key, list[int]] = defaultdict(list)
    loads: dict[Key, list[Load]] = defaultdict(list)
    settings: dict[Key, set[Hashable]] = defaultdict(set)
    for place, rows in enumerate(gathering.figures.rows):
        xs = repeat(place) if axis.name == factors.SET else columns[axis.name][place]
        others = columns[series.name][place] if series else repeat(None)
        rests = settings_of([factor.name for factor in layout.apart], columns, place)
        pools = settings_of([factor.name for factor in layout.averaged], columns, place)
        row_settings = zip(rows, xs, others, rests, pools, strict=False)
        for row, x, other, rest, setting in compress(row_settings, layout.has_fixed[place]):
            key = (place, x, other, rest)
            values[key].extend(row.values)
            trials[key].extend(row.trials)
            loads[key].append((row.lane, length_of(row.parameters)))
            settings[key].add(setting)
    places = [
        FigurePlace(key, tuple(own), tuple(trials[key]), loads[key], len(settings[key]))
        for key, own in values.items()
    ]
    return sorted(
        places,
        key=lambda place: (
            axis.place(place.key[1]),
            series.place(place.key[2]) if series else 0,
            tuple(factor.place(value) for factor, value in zip(layout.apart, place.key[3], strict=True)),
            place.key[0],
        ),
    )


def settings_of(names: Iterable[str], columns: Columns, place: int) -> Iterable[tuple[Hashable, ...]]:
    """Return the values of several factors that each row of a set has."""
    of_set = [columns[name][place] for name in names]
    return zip(*of_set, strict=True) if of_set else repeat((), len(columns[factors.NODES][place]))
