"""The data of a comparison's charts, in the form that static/js/charts reads."""

from itertools import compress
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.bench import statistics, units
from apps.bench.statistics import bounds
from apps.comparison.comparisons import factors, heat_rows, theory
from apps.comparison.comparisons.cells import Cell, within
from apps.comparison.comparisons.contrast import Comparison
from apps.results import charts, intervals
from apps.results.doubts import Mark

Json = dict[str, Any]

# More runs than this are not told apart by lines, and drawing them takes seconds.
MOST_RUNS = 2000
# More boxes or columns than this are thinner than a dot of the screen.
MOST_PLACES = 1000
# More lines than this are not told apart; the table has them all.
MOST_SERIES = 60
# More places than this on an axis of words cannot be read.
MOST_LABELS = 200


def charts_of(made: Comparison) -> list[tuple[str, Json]]:
    """Return (title, data) of each chart; the title is "" where there is only one."""
    if made.metric is None or not made.cells:
        return []
    if made.state.chart == "parallel":
        return [("", _parallel(made))]
    if made.state.chart == "heat":
        return _heats(made) if len(made.axis.values) <= MOST_PLACES else []
    if made.state.chart == "box" and len(made.axis.values) > MOST_PLACES:
        return []
    return [("", _boxes(made) if made.state.chart == "box" else _line(made))]


def undrawn(made: Comparison) -> int:
    """Return how many lines, or rows of boxes, the chart leaves to the table because there are too many."""
    if made.state.chart not in ("line", "box"):
        return 0
    return max(0, len({label_of(made, cell) for cell in made.cells}) - MOST_SERIES)


def remark_of(made: Comparison, charts: list[tuple[str, Json]]) -> str:
    """Return what the chart does not show, "" if it shows all."""
    if made.state.chart == "parallel":
        drawn = sum(len(data["rows"]) for _title, data in charts)
        runs = sum(cell.n for cell in made.cells)
        text = _("%(drawn)s of %(runs)s runs are drawn, evenly chosen.")
        return text % {"drawn": drawn, "runs": runs} if drawn < runs else ""
    if made.cells and not charts:
        return _("There are too many places for this chart: choose lines, or another axis.")
    return ""


def note_of(made: Comparison, cell: Cell) -> str:
    """Return what is to be known of a cell's figures: modes and outliers."""
    parts = []
    if cell.modes:
        text = _("Two modes: %(low)s (%(below)s figures) and %(high)s (%(above)s figures).")
        values = {"low": quantity(made, cell.modes.lower_mean), "high": quantity(made, cell.modes.upper_mean)}
        parts.append(text % {**values, "below": len(cell.modes.lower), "above": len(cell.modes.upper)})
    elif cell.outliers:
        figures = ", ".join(quantity(made, value) for _trial, value in cell.outliers)
        parts.append(_("Outliers: %(figures)s.") % {"figures": figures})
    return " ".join(parts)


def flags_of(made: Comparison, cell: Cell) -> Json:
    """Return what a chart says of the flags of a cell's figures."""
    assert made.metric
    return charts.flags_of(made.gathered.doubts, cell.trials, made.metric.name)


def mark_of(made: Comparison, cell: Cell) -> Mark | None:
    """Return the flags of a cell's figures, None if none of them has any."""
    return made.gathered.doubts.about(cell.trials, made.metric.name) if made.metric else None


def quantity(made: Comparison, value: float) -> str:
    """Return a figure of the comparison with its unit."""
    return units.format_quantity(value, made.unit)


def label_of(made: Comparison, cell: Cell) -> str:
    """Return the name of the line or the boxes that a cell belongs to."""
    parts = [made.titles[cell.set]] if len(made.titles) > 1 and made.axis.name != factors.SET else []
    if made.series:
        parts.append(f"{made.series.label} {made.series.text(cell.series)}")
    if made.apart:
        parts.append(made.rest_of(cell))
    return " · ".join(parts)


def figure_of(made: Comparison, cell: Cell) -> tuple[float, float | None, float | None] | None:
    """Return (value, low, high) as the chart shows it: the centre, or the ratio against the baseline."""
    if not made.state.ratio:
        return cell.centre.value, cell.centre.low, cell.centre.high
    if cell.is_baseline:
        return 1.0, None, None
    found = cell.contrast.difference if cell.contrast else None
    if found is None or found.ratio is None:
        return None
    return found.ratio, found.ratio_low, found.ratio_high


def ends_of(made: Comparison, cell: Cell) -> bounds.Clipped:
    """Return the interval of a cell's centre as far as its figures can lie there at all."""
    ceiling, metric = theory.ceiling_of(made, cell.lanes), made.metric.name if made.metric else ""
    return bounds.clipped(cell.centre.low, cell.centre.high, made.unit, cell.values, ceiling, metric)


def _shown_ends(made: Comparison, cell: Cell, low: float | None, high: float | None) -> bounds.Clipped:
    """Return the interval that a chart draws: of a ratio as it is, which is above zero in any case."""
    return bounds.Clipped(low, high, is_cut=False) if made.state.ratio else ends_of(made, cell)


def _metric(made: Comparison) -> Json:
    assert made.metric
    label, unit = _(made.metric.label), made.metric.unit
    if made.state.ratio:
        label, unit = _("%(metric)s against the baseline (ratio)") % {"metric": label}, "1"
    return {"name": made.metric.name, "label": label, "unit": unit, "log": made.state.log_y == "yes"}


def _x(made: Comparison) -> Json:
    axis = made.axis
    log = axis.is_log if made.state.log_x == "auto" else axis.numeric and made.state.log_x == "yes"
    return {"name": axis.name, "label": axis.label, "unit": axis.unit, "numeric": axis.numeric, "log": log}


def _grouped(made: Comparison) -> dict[str, list[Cell]]:
    found: dict[str, list[Cell]] = {}
    # Cells stand in the order of their rest already, and a sort leaves equals in theirs.
    for cell in sorted(made.cells, key=lambda cell: (cell.set, made.series.place(cell.series) if made.series else 0)):
        found.setdefault(label_of(made, cell), []).append(cell)
    return dict(list(found.items())[:MOST_SERIES])


def _line(made: Comparison) -> Json:
    series = []
    for label, cells in _grouped(made).items():
        points = []
        for cell in sorted(cells, key=lambda cell: made.axis.place(cell.x)):
            if (shown := figure_of(made, cell)) is None:
                continue
            x = cell.x if made.axis.numeric else made.axis.text(cell.x)
            ends = _shown_ends(made, cell, shown[1], shown[2])
            point: Json = {"x": x, "y": shown[0], "low": ends.low, "high": ends.high, "n": cell.n}
            if made.state.points and not made.state.ratio:
                point["points"] = cell.values
            notes = [note_of(made, cell) if cell.n > 3 else "", intervals.cut_note() if ends.is_cut else ""]
            if note := " ".join(filter(None, notes)):
                point["note"] = note
            point |= flags_of(made, cell)
            points.append(point)
        series.append({"label": label, "points": points})
    data: Json = {"kind": "line", "metric": _metric(made), "x": _x(made), "series": series, "lines": _lines(made)}
    return data | ({"individual": True} if made.state.points else {})


def _lines(made: Comparison) -> list[Json]:
    lines = theory.lines_of(made)
    if made.state.ratio:
        lines.append({"axis": "y", "value": 1.0, "label": _("Baseline")})
    return lines


def _boxes(made: Comparison) -> Json:
    series = []
    for label, cells in _grouped(made).items():
        boxes = []
        for cell in cells:
            box = statistics.box_of(cell.values)
            boxes.append(
                {
                    "x": made.axis.place(cell.x),
                    "n": cell.n,
                    "min": min(cell.values),
                    "q1": box.q1,
                    "median": box.median,
                    "q3": box.q3,
                    "max": max(cell.values),
                    "whisker_low": box.whisker_low,
                    "whisker_high": box.whisker_high,
                    "mean": cell.centre.value,
                    "outliers": list(box.outliers),
                    **({"points": cell.values} if made.state.points else {}),
                    **flags_of(made, cell),
                }
            )
        series.append({"label": label, "boxes": boxes})
    # Boxes hold the figures themselves; a ratio has no distribution of its own.
    metric = _metric(made) | {"label": _(made.metric.label) if made.metric else "", "unit": made.unit}
    data: Json = {"kind": "box", "metric": metric, "x": heat_rows.labels_of(made.axis), "series": series}
    lines = [] if made.state.ratio else [line for line in theory.lines_of(made) if line["axis"] == "y"]
    return data | {"lines": lines} | ({"individual": True} if made.state.points else {})


def _heats(made: Comparison) -> list[tuple[str, Json]]:
    """Return one heat map a set of the axis by the series and what else is told apart, or without any by the sets."""
    metric = _metric(made)
    y, rows = heat_rows.rows_of(made)
    is_of_sets = not (made.series or made.apart)
    places = [None] if is_of_sets or made.axis.name == factors.SET else list(range(len(made.titles)))
    found = []
    for place in places:
        cells = []
        for cell in made.cells:
            shown = figure_of(made, cell)
            # The baseline against itself is 1 everywhere.
            is_itself = made.state.ratio and not is_of_sets and cell.is_baseline
            if shown is None or place not in (None, cell.set) or is_itself:
                continue
            row = cell.set if is_of_sets else rows[cell.series, cell.rest]
            figure: Json = {"x": made.axis.place(cell.x), "y": row, "v": shown[0], "n": cell.n}
            ends = _shown_ends(made, cell, shown[1], shown[2])
            figure |= {"low": ends.low, "high": ends.high} if ends.low is not None else {}
            notes = [note_of(made, cell), intervals.cut_note() if ends.is_cut else ""]
            if note := " ".join(filter(None, notes)):
                figure["note"] = note
            cells.append(figure | flags_of(made, cell))
        title = made.titles[place] if place is not None and len(made.titles) > 1 else ""
        if cells:
            x = heat_rows.labels_of(made.axis)
            found.append((title, {"kind": "heat", "metric": metric, "x": x, "y": y, "cells": cells}))
    return found


def _parallel(made: Comparison) -> Json:
    """Return the runs over all factors that vary and the metric; of very many evenly chosen ones."""
    assert made.metric
    several = len(made.titles) > 1
    # What only tells the sets apart has its axis in them.
    shown = [
        factor
        for factor in made.factors
        if (factor.numeric or len(factor.values) <= MOST_LABELS)
        and (factor.is_parameter or made.varies_within(factor))
    ]
    axes: list[Json] = (
        [{"name": factors.SET, "label": _("Sets"), "unit": "", "labels": made.titles}] if several else []
    )
    for factor in shown:
        log = {"log": True} if factor.is_log else {}
        words = {} if factor.numeric else {"labels": list(factor.texts)}
        axes.append({"name": factor.name, "label": factor.label, "unit": factor.unit, **log, **words})
    log_y = {"log": True} if made.state.log_y == "yes" else {}
    axes.append({"name": made.metric.name, "label": _(made.metric.label), "unit": made.metric.unit, **log_y})
    names = [factor.name for factor in shown]
    runs = []
    for place, rows in enumerate(made.gathered.rows):
        told = zip(rows, factors.settings_of(names, place, made.gathered), strict=True)
        for row, setting in compress(told, within(made.fixed, place, made.gathered)):
            runs += [(place, setting, *run) for run in zip(row.trials, row.values, strict=True)]
    chosen = runs[:: max(1, -(-len(runs) // MOST_RUNS))]
    lines = []
    for place, setting, _trial, figure in chosen:
        pairs = zip(shown, setting, strict=True)
        places = [value if factor.numeric else factor.place(value) for factor, value in pairs]
        lines.append([*([place] if several else []), *places, figure])
    return {
        "kind": "parallel",
        "axes": axes,
        "rows": lines,
        "ids": [trial for _place, _setting, trial, _figure in chosen],
        **_flagged_runs(made, [trial for _place, _setting, trial, _figure in chosen]),
        "url": reverse("results:trial", args=[0]).replace("/0/", "/{id}/"),
        **({"colour": 0} if several else {}),
    }


def _flagged_runs(made: Comparison, trials: list[int]) -> Json:
    """Return the places of the runs that have flags, {"hollow": […]}; {} if none has any."""
    assert made.metric
    found = [place for place, pk in enumerate(trials) if made.gathered.doubts.is_flagged(pk, made.metric.name)]
    return {"hollow": found} if found else {}
