"""A chart's JSON as a flat table, for formats that hold data beside pictures; values are in base units."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

Row = list[Any]
Chart = dict[str, Any]


def heads_of(chart: Chart) -> list[str]:
    """Return the heads of the chart's columns, with units."""
    kind = chart.get("kind", "line")
    if kind == "parallel":
        return [named(axis) for axis in chart["axes"]]
    metric = named(chart["metric"])
    if kind == "heat":
        return [chart["y"]["label"], chart["x"]["label"], metric]
    if kind == "box":
        ends = [_("lower whisker"), "Q1", _("median"), "Q3", _("upper whisker"), _("mean"), _("outliers")]
        return [_("Series"), chart["x"]["label"], "n", *ends]
    interval = [_("lower end of the interval"), _("upper end of the interval")]
    return [_("Series"), named(chart["x"]), metric, *interval, "n"]


def rows_of(chart: Chart) -> Iterator[Row]:
    """Yield the chart's rows, as many values as there are heads."""
    yield from _ROWS[chart.get("kind", "line")](chart)


def named(axis: Chart) -> str:
    """Return an axis' label with its unit; the unit "time" is seconds since 1970."""
    unit = {"time": _("Unix time, s"), "1": "", "count": "", "fraction": ""}.get(
        axis.get("unit", ""), axis.get("unit")
    )
    return f"{axis['label']} ({unit})" if unit else str(axis["label"])


def _line(chart: Chart) -> Iterator[Row]:
    for series in chart["series"]:
        for point in series["points"]:
            yield [series.get("label", ""), point["x"], *(point.get(name) for name in ("y", "low", "high", "n"))]


def _heat(chart: Chart) -> Iterator[Row]:
    for cell in chart["cells"]:
        yield [chart["y"]["labels"][cell["y"]], chart["x"]["labels"][cell["x"]], cell["v"]]


def _box(chart: Chart) -> Iterator[Row]:
    names = ("n", "whisker_low", "q1", "median", "q3", "whisker_high", "mean")
    for series in chart["series"]:
        for box in series["boxes"]:
            outliers = " ".join(map(str, box.get("outliers", [])))
            yield [series.get("label", ""), chart["x"]["labels"][box["x"]], *map(box.get, names), outliers]


def _parallel(chart: Chart) -> Iterator[Row]:
    labels = [axis.get("labels") for axis in chart["axes"]]
    for row in chart["rows"]:
        yield [
            words[value] if words and value is not None else value for value, words in zip(row, labels, strict=True)
        ]


_ROWS = {"line": _line, "heat": _heat, "box": _box, "parallel": _parallel}
