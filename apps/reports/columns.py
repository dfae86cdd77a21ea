"""Columns of figures: one unit a column, chosen by its largest figure, as reports print them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.bench import units
from apps.bench.comparison import Centre
from apps.bench.statistics import CONFIDENCE, bounds
from apps.bench.toolkit import Metric
from apps.bench.units.formats import FRACTION
from apps.reports.document import Column

_RATES = (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))
_SIZES = (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30), ("TiB", 2.0**40))
_TIMES = (("us", 1e-6), ("ms", 1e-3), ("s", 1.0))
# 980 Mbit/s, not 0.98 Gbit/s: the next prefix from this many on.
_LARGEST = 10_000


NO_INTERVAL = bounds.Clipped(None, None, is_cut=False)


@dataclass(frozen=True)
class Scale:
    """A unit that is shown, and how many base units one of it is."""

    unit: str
    size: float

    def of(self, value: float | None) -> float | None:
        """Return a figure of the base unit in the unit shown."""
        if value is None:
            return None
        # Twelve digits are all that any figure has; the last bits of a division are none.
        return float(f"{value / self.size:.12g}")


def scale_of(values: Iterable[float | None], unit: str) -> Scale:
    """Return the unit in which figures of a base unit are printed."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if unit in ("bit/s", "B/s"):
        prefix, size = _fitting(_RATES, largest)
        return Scale(prefix + unit, size)
    if unit == "B":
        return Scale(*_fitting(_SIZES, largest))
    if unit == "s":
        return Scale(*next((pair for pair in reversed(_TIMES) if largest >= pair[1]), _TIMES[0]))
    if unit == FRACTION:
        return Scale("%", 0.01)
    return Scale("" if unit in ("1", "count") else unit, 1.0)


def size_of(name_or_unit: str, unit: str) -> float:
    """Return how many of a base unit one of the unit shown is, 1 where both are the same."""
    if unit == FRACTION:
        return 0.01
    steps = {"bit/s": _RATES, "B/s": _RATES, "B": _SIZES, "s": _TIMES}.get(unit, ())
    return next((size for name, size in steps if name_or_unit in (name, name + unit)), 1.0)


def _fitting(steps: tuple[tuple[str, float], ...], largest: float) -> tuple[str, float]:
    """Return the first step in which the largest figure has four digits at most before its point."""
    return next((step for step in steps if largest < _LARGEST * step[1]), steps[-1])


def column_of(metric: Metric, scale: Scale, beside: Iterable[Column] = ()) -> Column:
    """Return the column of a metric, which is called otherwise than the columns beside it."""
    return Column(title_of(metric, [column.title for column in beside]), scale.unit, "number")


def title_of(metric: Metric, titles: Collection[str]) -> str:
    """Return what a metric's column is called: its name, unless that is taken by what was set."""
    label = _(metric.label)
    return _("%(metric)s, measured") % {"metric": label} if label in titles else label


def count_columns(titles: Sequence[str], counts: Sequence[Sequence[int]]) -> list[tuple[Column, list[int]]]:
    """Return the columns that say of how many figures others are, with their cells: one for all of `titles`, or each.

    `counts` are those of each of them, row by row; where there is no figure, there is none to be counted.
    """
    rows = [set(row) - {0} for row in zip(*counts, strict=True)]
    if all(len(row) <= 1 for row in rows):
        return [(Column(_("n"), kind="number"), [max(row, default=0) for row in rows])]
    heads = (_("%(metric)s, n") % {"metric": title} for title in titles)
    return [(Column(title, kind="number"), list(count)) for title, count in zip(heads, counts, strict=True)]


def interval_columns(metric: str, scale: Scale, *, is_of_ranks: bool = False) -> list[Column]:
    """Return the columns of the ends of a metric's interval, which carry its name: a table may have several.

    That of a mean supposes an even scatter, where it is not known to be otherwise; one of ranks supposes nothing.
    """
    titles = (
        _("%(metric)s, from (95 %% if the scatter is even)"),
        _("%(metric)s, to (95 %% if the scatter is even)"),
    )
    if is_of_ranks:
        titles = (_("%(metric)s, from (95 %%)"), _("%(metric)s, to (95 %%)"))
    return [Column(title % {"metric": metric}, scale.unit, "number") for title in titles]


def told_interval_columns(metric: str, scale: Scale) -> list[Column]:
    """Return the columns of the ends of a metric's interval, and of the confidence that each of them has."""
    titles = (_("%(metric)s, from"), _("%(metric)s, to"))
    ends = [Column(title % {"metric": metric}, scale.unit, "number") for title in titles]
    return [*ends, Column(_("Confidence of the interval"), "%", "number")]


def ends_of(centre: Centre | None, metric: Metric, values: Sequence[float], ceiling: float | None) -> bounds.Clipped:
    """Return the ends of an interval of 95 %, as far as such figures can lie there; None where it has less than that.

    `ceiling` is what no figure along the measured path exceeds, in the metric's unit, as pages and REST have it.
    Equal figures have no interval: that they are equal is no measure of their scatter.
    """
    if centre is None or centre.confidence is None or centre.confidence < CONFIDENCE:
        return NO_INTERVAL
    return bounds.clipped(centre.low, centre.high, metric.unit, values, ceiling, metric.name)


def quantity(value: float | None, unit: str) -> str:
    """Return a figure with its unit, for sentences."""
    return "–" if value is None else units.format_quantity(value, unit)
