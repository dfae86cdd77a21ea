"""The table of every point of a comparison: one row for each setting, so that no cell is a mean over several."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from apps.bench import comparison
from apps.bench.comparison import Centre
from apps.bench.toolkit import Metric
from apps.comparison.comparisons import contrast, factors, figure_rows
from apps.comparison.comparisons.contrast import Comparison
from apps.comparison.comparisons.factors import Factor
from apps.comparison.comparisons.figure_rows import Row
from apps.reports.campaign import remarks
from apps.reports.columns import column_of, ends_of, interval_columns, scale_of
from apps.reports.document import Column, Table, Value
from apps.results.doubts import Mark

# A report's table has so many points; the appendix has every trial.
MOST_ROWS = 500
Key = tuple[Hashable, ...]


def varied_of(found: Comparison) -> list[Factor]:
    """Return what varies within the figures, in the order of the table's columns; of several sets, them first."""
    kinds = (factors.NODES, factors.EXPERIMENT, factors.FILE_SYSTEM) if len(found.titles) > 1 else (factors.NODES,)
    named = [factor for factor in found.factors if factor.is_parameter or factor.name in kinds]
    sets = [factors.of_sets(found.titles)] if len(found.titles) > 1 else []
    return [*sets, *named]


def columns_of(found: Comparison) -> dict[str, int]:
    """Return {factor: its column}."""
    return {factor.name: place for place, factor in enumerate(varied_of(found))}


def column_of_metric(table: Table, metric: Metric) -> int:
    """Return the column of a metric's centre."""
    return next(place for place, column in enumerate(table.columns) if column.title == _(metric.label))


def has_rows(found: Comparison, setting: Mapping[str, Hashable]) -> bool:
    """Return whether anything was measured at a setting."""
    return any(
        all(factors.value_of(row, name, found.gathered) == value for name, value in setting.items())
        for rows in found.gathered.rows
        for row in rows
    )


@dataclass(frozen=True)
class _Places:
    """The figures of a metric by place of the table."""

    metric: Metric
    values: dict[Key, list[float]]
    marks: dict[Key, Mark | None]
    found: Comparison | None = None


def table_of(key: str, caption: str, shown: Sequence[Comparison], more: Sequence[Metric]) -> Table:
    """Return every point with n, the centre and interval of the metrics drawn, and the mean of some others."""
    first = shown[0]
    varied = varied_of(first)
    parts = [
        _Places(found.metric, _by_place(found, varied), _marks(found, varied, found.metric), found)
        for found in shown
        if found.metric
    ]
    for metric in more:
        other = replace(first, gathered=figure_rows.gather(first.gathered.choices, metric.name))
        parts.append(_Places(metric, _by_place(other, varied), _marks(other, varied, metric)))
    places = sorted(
        parts[0].values if parts else (),
        key=lambda place: [factor.place(value) for factor, value in zip(varied, place, strict=True)],
    )
    printed = places[:MOST_ROWS]
    columns = [Column(factor.label) for factor in varied] + [Column(_("n"), kind="number")]
    cells: list[list[Value]] = [
        [*(factor.text(value) for factor, value in zip(varied, place, strict=True)), len(parts[0].values[place])]
        for place in printed
    ]
    figures: dict[str, list[list[float]]] = {
        str(column): [[float(str(place[column]))] for place in printed]
        for column, factor in enumerate(varied)
        if factor.numeric
    }
    for part in parts:
        _add_metric(part, first, printed, columns, cells, figures)
    marks = [{_(part.metric.label): part.marks.get(place) for part in parts} for place in printed]
    remarks.add_to(columns, cells, marks)
    note = f"{contrast.statistic_label(first)} – {_(first.why_mean)}"
    total = len(places) if len(places) > MOST_ROWS else 0
    return Table(key, caption, tuple(columns), cells, note=note, total=total, figures=figures or None)


def by_setting(found: Comparison, place: int, varied: Sequence[Factor]) -> dict[Key, list[float]]:
    """Return the figures of one set by the values of the factors that vary."""
    values: dict[Key, list[float]] = defaultdict(list)
    for row in found.gathered.rows[place]:
        values[_key(place, row, varied, found)].extend(row.values)
    return values


def marks_of(found: Comparison, place: int, varied: Sequence[Factor]) -> dict[Key, Mark | None]:
    """Return the flags of the figures of one set by the values of the factors that vary."""
    trials: dict[Key, list[int]] = defaultdict(list)
    for row in found.gathered.rows[place]:
        trials[_key(place, row, varied, found)].extend(row.trials)
    name = found.metric.name if found.metric else ""
    return {setting: found.gathered.doubts.about(members, name) for setting, members in trials.items()}


def _by_place(found: Comparison, varied: Sequence[Factor]) -> dict[Key, list[float]]:
    values: dict[Key, list[float]] = defaultdict(list)
    for number, rows in enumerate(found.gathered.rows):
        for row in rows:
            values[_key(number, row, varied, found)].extend(row.values)
    return values


def _marks(found: Comparison, varied: Sequence[Factor], metric: Metric) -> dict[Key, Mark | None]:
    """Return the flags of the figures at each place."""
    trials: dict[Key, list[int]] = defaultdict(list)
    for number, rows in enumerate(found.gathered.rows):
        for row in rows:
            trials[_key(number, row, varied, found)].extend(row.trials)
    return {place: found.gathered.doubts.about(members, metric.name) for place, members in trials.items()}


def _key(number: int, row: Row, varied: Sequence[Factor], found: Comparison) -> Key:
    return tuple(
        number if factor.name == factors.SET else factors.value_of(row, factor.name, found.gathered)
        for factor in varied
    )


def _add_metric(
    part: _Places,
    first: Comparison,
    places: Sequence[Key],
    columns: list[Column],
    cells: list[list[Value]],
    figures: dict[str, list[list[float]]],
) -> None:
    """Add a metric's columns: its centre, of those drawn also the interval where any place has one."""
    mean = part.found.mean if part.found else first.mean
    centres: list[Centre | None] = [
        comparison.centre_of(part.values[place], first.state.statistic, mean) if part.values.get(place) else None
        for place in places
    ]
    scale = scale_of([centre.value for centre in centres if centre], part.metric.unit)
    if part.found is not None:
        figures[str(len(columns))] = [
            [scale.of(value) or 0.0 for value in part.values.get(place, ())] for place in places
        ]
    columns.append(column_of(part.metric, scale))
    for row, centre in zip(cells, centres, strict=True):
        row.append(scale.of(centre.value) if centre else None)
    ends = [
        ends_of(centre, part.metric.unit, part.values.get(place, ()))
        for place, centre in zip(places, centres, strict=True)
    ]
    if part.found is None or not any(low is not None for low, _high in ends):
        return
    columns += interval_columns(_(part.metric.label), scale)
    for row, pair in zip(cells, ends, strict=True):
        row += [scale.of(end) for end in pair]
