"""The data of a comparison's charts, in the form that static/js/charts reads."""

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

from django.utils.translation import gettext as _

from apps.bench import network, statistics, units
from apps.bench.statistics.bounds import Clipped
from apps.comparison.comparisons import factors, paths
from apps.comparison.comparisons.cells import ComparisonCell
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.factors import VariedFactor
from apps.comparison.comparisons.presentation import parallel
from apps.results import charts, intervals
from apps.results.theory import bdp_label, ceiling_bps

Json = dict[str, Any]

# More boxes or columns than this are thinner than a dot of the screen.
MOST_PLACES = 1000
# More lines than this are not told apart; the table has them all.
MOST_SERIES = 60
# More paths than this would cover the chart with lines.
MOST_PATHS = 4


def charts_of(comparison: Comparison) -> list[tuple[str, Json]]:
    """Return (title, data) of each chart; the title is "" where there is only one."""
    if comparison.metric is None or not comparison.cells:
        return []
    if comparison.state.chart == "parallel":
        return [("", parallel.parallel_of(comparison))]
    if comparison.state.chart == "heat":
        return _heats(comparison) if len(comparison.axis.values) <= MOST_PLACES else []
    if comparison.state.chart == "box" and len(comparison.axis.values) > MOST_PLACES:
        return []
    return [("", _boxes(comparison) if comparison.state.chart == "box" else _line(comparison))]


def undrawn(comparison: Comparison) -> int:
    """Return how many lines, or rows of boxes, the chart leaves to the table because there are too many."""
    if comparison.state.chart not in ("line", "box"):
        return 0
    return max(0, len({label_of(comparison, cell) for cell in comparison.cells}) - MOST_SERIES)


def remark_of(comparison: Comparison, charts: list[tuple[str, Json]]) -> str:
    """Return what the chart does not show, "" if it shows all."""
    if comparison.state.chart == "parallel":
        drawn = sum(len(data["rows"]) for _title, data in charts)
        runs = sum(cell.n for cell in comparison.cells)
        text = _("%(drawn)s of %(runs)s runs are drawn, evenly chosen.")
        return text % {"drawn": drawn, "runs": runs} if drawn < runs else ""
    if comparison.cells and not charts:
        return _("There are too many places for this chart: choose lines, or another axis.")
    return ""


def note_of(comparison: Comparison, cell: ComparisonCell) -> str:
    """Return what is to be known of a cell's figures: modes and outliers."""
    parts = []
    if cell.modes:
        text = _("Two modes: %(low)s (%(below)s figures) and %(high)s (%(above)s figures).")
        values = {
            "low": units.format_quantity(cell.modes.lower_mean, comparison.unit),
            "high": units.format_quantity(cell.modes.upper_mean, comparison.unit),
        }
        parts.append(text % {**values, "below": len(cell.modes.lower), "above": len(cell.modes.upper)})
    elif cell.outliers:
        figures = ", ".join(units.format_quantity(value, comparison.unit) for _trial, value in cell.outliers)
        parts.append(_("Outliers: %(figures)s.") % {"figures": figures})
    return " ".join(parts)


def flags_of(comparison: Comparison, cell: ComparisonCell) -> Json:
    """Return what a chart says of the flags of a cell's figures."""
    assert comparison.metric
    return charts.flags_of(comparison.gathering.figures.doubts, cell.trials, comparison.metric.name)


def label_of(comparison: Comparison, cell: ComparisonCell) -> str:
    """Return the name of the line or the boxes that a cell belongs to."""
    parts = (
        [comparison.titles[cell.set]] if len(comparison.titles) > 1 and comparison.axis.name != factors.SET else []
    )
    if comparison.series:
        parts.append(f"{comparison.series.label} {comparison.series.text(cell.series)}")
    if comparison.apart:
        parts.append(comparison.rest_of(cell))
    return " · ".join(parts)


def figure_of(comparison: Comparison, cell: ComparisonCell) -> tuple[float, float | None, float | None] | None:
    """Return (value, low, high) as the chart shows it: the centre, or the ratio against the baseline."""
    if not comparison.state.ratio:
        return cell.centre.value, cell.centre.low, cell.centre.high
    if cell.is_baseline:
        return 1.0, None, None
    difference = cell.contrast.difference if cell.contrast else None
    if difference is None or difference.ratio is None:
        return None
    return difference.ratio, difference.ratio_low, difference.ratio_high


def _span(comparison: Comparison, cell: ComparisonCell, low: float | None, high: float | None) -> Clipped:
    """Return the interval that a chart draws: of a ratio as it is, which is above zero in any case."""
    return Clipped(low, high, is_cut=False) if comparison.state.ratio else cell.ends


def _metric(comparison: Comparison) -> Json:
    assert comparison.metric
    label, unit = _(comparison.metric.label), comparison.metric.unit
    if comparison.state.ratio:
        label, unit = _("%(metric)s against the baseline (ratio)") % {"metric": label}, "1"
    return {"name": comparison.metric.name, "label": label, "unit": unit, "log": comparison.state.log_y == "yes"}


def _x(comparison: Comparison) -> Json:
    axis = comparison.axis
    log = axis.is_log if comparison.state.log_x == "auto" else axis.numeric and comparison.state.log_x == "yes"
    return {"name": axis.name, "label": axis.label, "unit": axis.unit, "numeric": axis.numeric, "log": log}


def _grouped(comparison: Comparison) -> dict[str, list[ComparisonCell]]:
    groups: dict[str, list[ComparisonCell]] = {}
    # Cells stand in the order of their rest already, and a sort leaves equals in theirs.
    series = comparison.series
    for cell in sorted(comparison.cells, key=lambda cell: (cell.set, series.place(cell.series) if series else 0)):
        groups.setdefault(label_of(comparison, cell), []).append(cell)
    return dict(list(groups.items())[:MOST_SERIES])


def _line(comparison: Comparison) -> Json:
    series = []
    for label, cells in _grouped(comparison).items():
        points = []
        for cell in sorted(cells, key=lambda cell: comparison.axis.place(cell.x)):
            if (figure := figure_of(comparison, cell)) is None:
                continue
            x = cell.x if comparison.axis.numeric else comparison.axis.text(cell.x)
            ends = _span(comparison, cell, figure[1], figure[2])
            point: Json = {"x": x, "y": figure[0], "low": ends.low, "high": ends.high, "n": cell.n}
            if comparison.state.points and not comparison.state.ratio:
                point["points"] = list(cell.values)
            notes = [note_of(comparison, cell) if cell.n > 3 else "", intervals.cut_note() if ends.is_cut else ""]
            if note := " ".join(filter(None, notes)):
                point["note"] = note
            point |= flags_of(comparison, cell)
            points.append(point)
        series.append({"label": label, "points": points})
    data: Json = {
        "kind": "line",
        "metric": _metric(comparison),
        "x": _x(comparison),
        "series": series,
        "lines": _lines(comparison),
    }
    return data | ({"individual": True} if comparison.state.points else {})


def _lines(comparison: Comparison) -> list[Json]:
    lines = _theory(comparison)
    if comparison.state.ratio:
        lines.append({"axis": "y", "value": 1.0, "label": _("Baseline")})
    return lines


def _boxes(comparison: Comparison) -> Json:
    series = []
    for label, cells in _grouped(comparison).items():
        boxes = []
        for cell in cells:
            box = statistics.box_of(cell.values)
            boxes.append(
                {
                    "x": comparison.axis.place(cell.x),
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
                    **({"points": list(cell.values)} if comparison.state.points else {}),
                    **flags_of(comparison, cell),
                }
            )
        series.append({"label": label, "boxes": boxes})
    # Boxes hold the figures themselves; a ratio has no distribution of its own.
    metric = _metric(comparison) | {
        "label": _(comparison.metric.label) if comparison.metric else "",
        "unit": comparison.unit,
    }
    data: Json = {"kind": "box", "metric": metric, "x": _labels(comparison.axis), "series": series}
    lines = [] if comparison.state.ratio else [line for line in _theory(comparison) if line["axis"] == "y"]
    return data | {"lines": lines} | ({"individual": True} if comparison.state.points else {})


def _heats(comparison: Comparison) -> list[tuple[str, Json]]:
    """Return one heat map a set of the axis by the series and what else is told apart, or without any by the sets."""
    metric = _metric(comparison)
    y, rows = _heat_rows(comparison)
    is_of_sets = not (comparison.series or comparison.apart)
    places = [None] if is_of_sets or comparison.axis.name == factors.SET else list(range(len(comparison.titles)))
    maps = []
    for place in places:
        cells = []
        for cell in comparison.cells:
            figures = figure_of(comparison, cell)
            # The baseline against itself is 1 everywhere.
            is_itself = comparison.state.ratio and not is_of_sets and cell.is_baseline
            if figures is None or place not in (None, cell.set) or is_itself:
                continue
            row = cell.set if is_of_sets else rows[cell.series, cell.rest]
            figure: Json = {"x": comparison.axis.place(cell.x), "y": row, "v": figures[0], "n": cell.n}
            ends = _span(comparison, cell, figures[1], figures[2])
            figure |= {"low": ends.low, "high": ends.high} if ends.low is not None else {}
            notes = [note_of(comparison, cell), intervals.cut_note() if ends.is_cut else ""]
            if note := " ".join(filter(None, notes)):
                figure["note"] = note
            cells.append(figure | flags_of(comparison, cell))
        title = comparison.titles[place] if place is not None and len(comparison.titles) > 1 else ""
        if cells:
            x = _labels(comparison.axis)
            maps.append((title, {"kind": "heat", "metric": metric, "x": x, "y": y, "cells": cells}))
    return maps


def _labels(factor: VariedFactor) -> Json:
    """Return an axis of words."""
    return {"name": factor.name, "label": factor.label, "labels": list(factor.texts)}


def _heat_rows(comparison: Comparison) -> tuple[Json, dict[tuple[Hashable, ...], int]]:
    """Return the y axis of a heat map, and the row of each value of the series with what else is told apart."""
    if not comparison.apart:
        y = comparison.series or comparison.gathering.sets
        return _labels(y), {(value, ()): place for place, value in enumerate(y.values)}
    kinds = {(cell.series, cell.rest): cell for cell in comparison.cells}
    order = sorted(
        kinds,
        key=lambda kind: (
            comparison.series.place(kind[0]) if comparison.series else 0,
            tuple(factor.place(value) for factor, value in zip(comparison.apart, kind[1], strict=True)),
        ),
    )
    labels = []
    for kind in order:
        series = comparison.series.text(kind[0]) if comparison.series else ""
        labels.append(", ".join(filter(None, (series, comparison.rest_of(kinds[kind])))))
    named = [*([comparison.series] if comparison.series else []), *comparison.apart]
    names = {"name": named[0].name, "label": ", ".join(factor.label for factor in named)}
    return names | {"labels": labels}, {kind: place for place, kind in enumerate(order)}


def _theory(comparison: Comparison) -> list[Json]:
    """Return the lines of the chart; none where ratios are shown, or where too many paths were measured."""
    bits = charts.RATE_BITS.get(comparison.unit)
    by_window = comparison.axis.name == "window" and comparison.axis.numeric
    lengths_of: dict[tuple[tuple[network.Path, ...], str], set[int | None]] = defaultdict(set)
    if bits or by_window:
        for lane, length in paths.loads_of(row for rows in comparison.gathering.figures.rows for row in rows):
            if own := comparison.gathering.paths.get(lane):
                lengths_of[own].add(length)
    if len(lengths_of) > MOST_PATHS:
        return []
    lines: dict[tuple[object, ...], Json] = {}
    for (pairs, transport), lengths in lengths_of.items():
        path = pairs[0]
        if path.bottleneck is None or path.capacity_bps is None:
            continue
        rate = ceiling_bps(pairs, transport, lengths)
        if bits and rate and not comparison.state.ratio:
            ceiling = rate / bits
            text = _("Ceiling of the path (%(link)s): %(rate)s") % {
                "link": path.bottleneck.name,
                "rate": units.format_quantity(ceiling, comparison.unit),
            }
            lines["y", ceiling] = {"axis": "y", "value": ceiling, "label": text}
        if by_window and path.rtt_s:
            bdp = network.bdp_bytes(path.capacity_bps, path.rtt_s) or 0
            lines["x", bdp] = {"axis": "x", "value": bdp, "label": bdp_label(path)}
    return list(lines.values())
