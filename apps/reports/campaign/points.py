"""The table of every point of a comparison: one row for each setting, so that no cell is a mean over several."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from apps.bench import statistics
from apps.bench.comparison import Centre, Statistic, centre_of
from apps.bench.statistics import Mean
from apps.bench.toolkit import Metric
from apps.comparison.comparisons import factors, figure_rows, paths
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.factors import VariedFactor
from apps.comparison.comparisons.figure_rows import FigureRow, FigureRows
from apps.comparison.comparisons.presentation.words import statistic_label
from apps.reports.campaign import remarks
from apps.reports.columns import column_of, count_columns, ends_of, interval_columns, scale_of, title_of
from apps.reports.document import Column, Table, Value
from apps.results import means
from apps.results.doubts import Mark

# A report's table has so many points; the appendix has every trial.
MOST_ROWS = 500
Key = tuple[Hashable, ...]


def varied_of(comparison: Comparison) -> list[VariedFactor]:
    """Return what varies within the figures, in the order of the table's columns; of several sets, them first."""
    kinds = (
        (factors.NODES, factors.EXPERIMENT, factors.FILE_SYSTEM) if len(comparison.titles) > 1 else (factors.NODES,)
    )
    varied = [factor for factor in comparison.factors if factor.is_parameter or factor.name in kinds]
    sets = [comparison.gathering.sets] if len(comparison.titles) > 1 else []
    return [*sets, *varied]


def columns_of(comparison: Comparison) -> dict[str, int]:
    """Return {factor: its column}."""
    return {factor.name: place for place, factor in enumerate(varied_of(comparison))}


def column_of_metric(table: Table, metric: Metric) -> int:
    """Return the column of a metric's centre; of what was set under the same name, it is the other one."""
    titles = [column.title for column in table.columns]
    label = _(metric.label)
    measured = title_of(metric, titles)
    return titles.index(measured if measured in titles else label)


def has_rows(comparison: Comparison, setting: Mapping[str, Hashable]) -> bool:
    """Return whether anything was measured at a setting."""
    figures = comparison.gathering.figures
    return any(
        all(factors.value_of(row, name, figures) == value for name, value in setting.items())
        for rows in figures.rows
        for row in rows
    )


@dataclass(frozen=True)
class _Places:
    """The figures of a metric by place of the table, and the mean that is right for them; `is_drawn` has a figure."""

    metric: Metric
    values: dict[Key, list[float]]
    marks: dict[Key, Mark | None]
    mean: Mean
    why: str
    is_drawn: bool = True
    ceilings: Mapping[Key, float | None] = field(default_factory=dict)

    def counts(self, places: Iterable[Key]) -> list[int]:
        """Return how many figures there are at each place."""
        return [len(self.values.get(place, ())) for place in places]


def table_of(key: str, caption: str, comparisons: Sequence[Comparison], more: Sequence[Metric]) -> Table:
    """Return every point with n, the centre and interval of the metrics drawn, and the mean of some others.

    Each metric has its own mean and, unless all were measured as often, its own n.
    """
    first = comparisons[0]
    varied = varied_of(first)
    parts = _parts(first, comparisons, more, varied)
    places = sorted(
        {place for part in parts for place in part.values},
        key=lambda place: [factor.place(value) for factor, value in zip(varied, place, strict=True)],
    )
    printed = places[:MOST_ROWS]
    columns = [Column(factor.label) for factor in varied]
    cells: list[list[Value]] = [
        [factor.text(value) for factor, value in zip(varied, place, strict=True)] for place in printed
    ]
    figures: dict[str, list[list[float]]] = {
        str(column): [[float(str(place[column]))] for place in printed]
        for column, factor in enumerate(varied)
        if factor.numeric
    }
    titles = [title_of(part.metric, [factor.label for factor in varied]) for part in parts]
    count_parts = count_columns(titles, [part.counts(printed) for part in parts])
    cut: list[list[str]] = [[] for _place in printed]
    for number, part in enumerate(parts):
        if number < len(count_parts):
            columns.append(count_parts[number][0])
            _extend(cells, count_parts[number][1])
        is_cut = _add_metric(part, first.state.statistic, printed, columns, cells, figures)
        for of_row in (own for own, is_own in zip(cut, is_cut, strict=True) if is_own):
            of_row.append(_(part.metric.label))
    marks = [{_(part.metric.label): part.marks.get(place) for part in parts} for place in printed]
    remarks.add_to(columns, cells, marks, cut)
    total = len(places) if len(places) > MOST_ROWS else 0
    note = remarks.note_of(_note(first, parts), cut)
    return Table(key, caption, tuple(columns), cells, note=note, total=total, figures=figures or None)


def _parts(
    first: Comparison, comparisons: Sequence[Comparison], more: Sequence[Metric], varied: Sequence[VariedFactor]
) -> list[_Places]:
    """Return the figures of the metrics that are drawn, then of the others."""
    parts = [
        _Places(
            comparison.metric,
            _by_place(comparison.gathering.figures, varied),
            _marks(comparison.gathering.figures, varied),
            comparison.mean,
            comparison.why_mean,
            ceilings=_ceilings(comparison, varied),
        )
        for comparison in comparisons
        if comparison.metric
    ]
    for metric in more:
        figures = figure_rows.rows_of(first.gathering.choice, metric.name)
        mean, why = figure_rows.mean_of(figures, metric.unit)
        marks = _marks(figures, varied)
        parts.append(_Places(metric, _by_place(figures, varied), marks, mean, why, is_drawn=False))
    return parts


def _note(first: Comparison, parts: Sequence[_Places]) -> str:
    """Return which statistic the table has and why, for each metric where they differ."""
    if first.state.statistic is Statistic.MEDIAN or len({part.mean for part in parts}) < 2:
        return f"{statistic_label(first)} – {_(first.why_mean)}"
    return " ".join(f"{_(part.metric.label)}: {means.label_of(part.mean)} – {_(part.why)}" for part in parts)


def by_setting(comparison: Comparison, place: int, varied: Sequence[VariedFactor]) -> dict[Key, list[float]]:
    """Return the figures of one set by the values of the factors that vary."""
    values: dict[Key, list[float]] = defaultdict(list)
    figures = comparison.gathering.figures
    for row in figures.rows[place]:
        values[_key(place, row, varied, figures)].extend(row.values)
    return values


def marks_of(comparison: Comparison, place: int, varied: Sequence[VariedFactor]) -> dict[Key, Mark | None]:
    """Return the flags of the figures of one set by the values of the factors that vary."""
    trials: dict[Key, list[int]] = defaultdict(list)
    figures = comparison.gathering.figures
    for row in figures.rows[place]:
        trials[_key(place, row, varied, figures)].extend(row.trials)
    return {setting: figures.doubts.about(members, figures.metric) for setting, members in trials.items()}


def _by_place(figures: FigureRows, varied: Sequence[VariedFactor]) -> dict[Key, list[float]]:
    values: dict[Key, list[float]] = defaultdict(list)
    for number, rows in enumerate(figures.rows):
        for row in rows:
            values[_key(number, row, varied, figures)].extend(row.values)
    return values


def _ceilings(comparison: Comparison, varied: Sequence[VariedFactor]) -> dict[Key, float | None]:
    """Return what no figure at each place exceeds."""
    rows_of: dict[Key, list[FigureRow]] = defaultdict(list)
    figures, ceilings = comparison.gathering.figures, comparison.gathering.ceilings
    for number, rows in enumerate(figures.rows):
        for row in rows:
            rows_of[_key(number, row, varied, figures)].append(row)
    return {place: paths.ceiling_of(ceilings, paths.loads_of(own)) for place, own in rows_of.items()}


def _marks(figures: FigureRows, varied: Sequence[VariedFactor]) -> dict[Key, Mark | None]:
    """Return the flags of the figures at each place."""
    trials: dict[Key, list[int]] = defaultdict(list)
    for number, rows in enumerate(figures.rows):
        for row in rows:
            trials[_key(number, row, varied, figures)].extend(row.trials)
    return {place: figures.doubts.about(members, figures.metric) for place, members in trials.items()}


def _key(number: int, row: FigureRow, varied: Sequence[VariedFactor], figures: FigureRows) -> Key:
    return tuple(
        number if factor.name == factors.SET else factors.value_of(row, factor.name, figures) for factor in varied
    )


def _add_metric(
    part: _Places,
    statistic: Statistic,
    places: Sequence[Key],
    columns: list[Column],
    cells: list[list[Value]],
    figures: dict[str, list[list[float]]],
) -> list[bool]:
    """Add a metric's columns: its centre, of those drawn also the interval where any place has one.

    Returns of each place whether its interval is cut.
    """
    evenness = statistics.evenness_of(part.values.values())
    centres: list[Centre | None] = [
        centre_of(part.values[place], statistic, part.mean, evenness) if part.values.get(place) else None
        for place in places
    ]
    scale = scale_of([centre.value for centre in centres if centre], part.metric.unit)
    figures[str(len(columns))] = [
        [scale.of(value) or 0.0 for value in part.values.get(place, ())] for place in places
    ]
    columns.append(column_of(part.metric, scale, columns))
    _extend(cells, [scale.of(centre.value) if centre else None for centre in centres])
    ends = [
        ends_of(centre, part.metric, part.values.get(place, ()), part.ceilings.get(place))
        for place, centre in zip(places, centres, strict=True)
    ]
    if not part.is_drawn or not any(own.low is not None for own in ends):
        return [False for _own in ends]
    columns += interval_columns(columns[-1].title, scale, is_of_ranks=statistic is Statistic.MEDIAN)
    for row, own in zip(cells, ends, strict=True):
        row += [scale.of(own.low), scale.of(own.high)]
    return [own.is_cut for own in ends]


def _extend(rows: Sequence[list[Value]], values: Sequence[Value]) -> None:
    for row, value in zip(rows, values, strict=True):
        row.append(value)
