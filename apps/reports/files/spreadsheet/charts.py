"""A figure's sheet: a chart that the reader can change, and its data in readable units."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from xlsxwriter import Workbook
from xlsxwriter.chart import Chart
from xlsxwriter.utility import xl_range_abs
from xlsxwriter.worksheet import Worksheet

from apps.reports.files import flat
from apps.reports.files.spreadsheet.axes import SheetAxis, axis_of, distance, ends_of, options
from apps.reports.files.spreadsheet.styles import Styles, number_format

Json = dict[str, Any]

COLOURS = ("#0b6e99", "#c2571a", "#3a7d34", "#8e4aa8", "#b3261e", "#55606e")
MARKS = ("circle", "square", "triangle", "diamond", "x", "star")
LINE = "#7a5c00"
SHADES = ("#f4f9fb", "#a9d2e3", "#4a9bc1")
EDGE = "#09425c"
# Below caption and sentence stands the chart, and below that its data; or the data at once.
TOP, BELOW = 4, 28
_SIZE = {"width": 760, "height": 430}
_DIGITS = 4
_PLACE = re.compile(r"!(?=\$?[A-Z]+\$?\d)")


@dataclass
class Sheet:
    """The part of a sheet with the data: rows are added one after the other."""

    book: Workbook
    sheet: Worksheet
    styles: Styles
    name: str
    row: int
    formats: dict[int, Any] = field(default_factory=dict)

    def heads(self, texts: Sequence[str], kinds: Sequence[str]) -> None:
        """Write the heads of the columns."""
        for place, (text, kind) in enumerate(zip(texts, kinds, strict=True)):
            self.sheet.write_string(self.row, place, text, self.styles.head(kind))
            self.sheet.set_column(place, place, min(max(len(text) + 3, 13), 30), self.formats.get(place))
        self.row += 1

    def add(self, values: Sequence[Any]) -> int:
        """Write a row and return its number."""
        for place, value in enumerate(values):
            if isinstance(value, int | float) and not isinstance(value, bool):
                self.sheet.write_number(self.row, place, value, self.formats.get(place))
            elif value is not None:
                self.sheet.write_string(self.row, place, str(value))
        self.row += 1
        return self.row - 1

    def cells(self, first: int, last: int, column: int) -> list[Any]:
        """Return a range of a column as charts name it."""
        return [self.name, first, column, last, column]

    def show(self, chart: Chart, caption: str) -> None:
        """Put a chart above the data."""
        chart.set_size(_SIZE)
        chart.set_title({"none": True})
        self.sheet.insert_chart(TOP, 0, chart, {"description": caption})


def write(book: Workbook, sheet: Worksheet, styles: Styles, chart: Json, caption: str) -> None:
    """Write the data of a chart and, where a spreadsheet has such a kind, the chart."""
    chart = _plain(chart)
    kind = chart.get("kind", "line")
    if kind == "line" and not chart["x"].get("numeric"):
        kind = "words"
    top = TOP if kind in ("heat", "parallel") else BELOW
    _WRITERS[kind](Sheet(book, sheet, styles, sheet.get_name(), top), chart, caption)


def _plain(value: Any) -> Any:
    """Return a chart's data in which no text is one that a chart takes for a place in a sheet ("Sheet!A1")."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    # Nothing of it is to be seen.
    return _PLACE.sub("!\N{WORD JOINER}", value) if isinstance(value, str) else value


def _line(to: Sheet, chart: Json, caption: str) -> None:
    """Write series over a numeric axis: a block of rows each, then the lines of theory."""
    x, y = axis_of(chart["x"], _all(chart, "x")), axis_of(chart["metric"], _all(chart, "y", "low", "high"))
    to.formats = {1: _shown(to, x, _all(chart, "x")), **dict.fromkeys(range(2, 7), _shown(to, y, _all(chart, "y")))}
    interval = [_("lower end"), _("upper end"), _("interval below"), _("interval above")]
    heads = [_("Series"), x.title, y.title, *interval, "n"]
    to.heads(heads, ["text", *["number"] * 7])
    graph = to.book.add_chart({"type": "scatter", "subtype": "straight_with_markers"})
    for place, series in enumerate(chart["series"]):
        first = to.row
        for point in series["points"]:
            value, low, high = (y.of(point.get(name)) for name in ("y", "low", "high"))
            to.add([series.get("label", ""), x.of(point["x"]), value, low, high, distance(value, low),
                    distance(high, value), point.get("n")])  # fmt: skip
        if to.row > first:
            look = _look(place, series.get("label") or chart["metric"]["label"])
            error = (
                _errors(to, first, 5, 6) if any(point.get("low") is not None for point in series["points"]) else {}
            )
            graph.add_series({"categories": to.cells(first, to.row - 1, 1), "values": to.cells(first, to.row - 1, 2),
                             **look, **error})  # fmt: skip
    for line in chart.get("lines", []):
        ends = ends_of(line, chart)
        if ends:
            rows = [to.add([line.get("label", ""), x.of(at), y.of(value)]) for at, value in ends]
            graph.add_series({"name": line.get("label", ""), "categories": to.cells(rows[0], rows[-1], 1),
                             "values": to.cells(rows[0], rows[-1], 2), "marker": {"type": "none"},
                             "line": {"color": LINE, "dash_type": "dash", "width": 1.25}})  # fmt: skip
    graph.set_x_axis(options(x, chart["x"], _all(chart, "x")))
    graph.set_y_axis(options(y, chart["metric"], _all(chart, "y", "low", "high"), from_zero=True))
    _legend(graph, chart)
    to.show(graph, caption)


def _words(to: Sheet, chart: Json, caption: str) -> None:
    """Write series over words: a row a word, with columns for each series; lines across are a series each."""
    y = axis_of(chart["metric"], _all(chart, "y", "low", "high"))
    words = list(dict.fromkeys(str(point["x"]) for series in chart["series"] for point in series["points"]))
    names = [series.get("label") or chart["metric"]["label"] for series in chart["series"]]
    lines = [line for line in chart.get("lines", []) if line["axis"] == "y" and line.get("value") is not None]
    to.formats = dict.fromkeys(range(1, 1 + 3 * len(names) + len(lines)), _shown(to, y, _all(chart, "y")))
    heads = [chart["x"]["label"], *(f"{name} ({y.unit})" if y.unit else name for name in names)]
    sides = _("interval below"), _("interval above")
    heads += [f"{name}: {side}" for name in names for side in sides]
    to.heads(
        [*heads, *(line.get("label", "") for line in lines)], ["text", *["number"] * (3 * len(names) + len(lines))]
    )
    first = to.row
    for word in words:
        points: list[Json] = [
            next((point for point in series["points"] if str(point["x"]) == word), {}) for series in chart["series"]
        ]
        figures = [[y.of(point.get(name)) for name in ("y", "low", "high")] for point in points]
        ends = [part for value, low, high in figures for part in (distance(value, low), distance(high, value))]
        to.add([word, *(value for value, _low, _high in figures), *ends, *(y.of(line["value"]) for line in lines)])
    graph = to.book.add_chart({"type": "column"})
    for place, name in enumerate(names):
        ends_at = 1 + len(names) + 2 * place
        graph.add_series({"name": name, "categories": to.cells(first, to.row - 1, 0),
                         "values": to.cells(first, to.row - 1, 1 + place),
                         "fill": {"color": COLOURS[place % len(COLOURS)]},
                         **_errors(to, first, ends_at, ends_at + 1)})  # fmt: skip
    if lines:
        across = to.book.add_chart({"type": "line"})
        for place, line in enumerate(lines, start=1 + 3 * len(names)):
            across.add_series({"name": line.get("label", ""), "categories": to.cells(first, to.row - 1, 0),
                               "values": to.cells(first, to.row - 1, place),
                               "line": {"color": LINE, "dash_type": "dash", "width": 1.25}})  # fmt: skip
        graph.combine(across)
    graph.set_x_axis({"name": chart["x"]["label"]})
    graph.set_y_axis(options(y, chart["metric"], _all(chart, "y", "low", "high"), from_zero=True))
    _legend(graph, chart)
    to.show(graph, caption)


def _heat(to: Sheet, chart: Json, caption: str) -> None:
    """Write a metric over two factors as cells that are shaded by their values."""
    y = axis_of(chart["metric"], [cell["v"] for cell in chart["cells"]])
    values = {(cell["y"], cell["x"]): y.of(cell["v"]) for cell in chart["cells"]}
    columns = chart["x"]["labels"]
    to.formats = dict.fromkeys(range(1, 1 + len(columns)), _shown(to, y, [cell["v"] for cell in chart["cells"]]))
    to.heads([f"{chart['y']['label']} \\ {chart['x']['label']}", *columns], ["text", *["number"] * len(columns)])
    first = to.row
    for place, label in enumerate(chart["y"]["labels"]):
        to.add([label, *(values.get((place, column)) for column in range(len(columns)))])
    low, middle, high = SHADES
    if columns and to.row > first:
        to.sheet.conditional_format(first, 1, to.row - 1, len(columns), {
            "type": "3_color_scale", "min_color": low, "mid_color": middle, "max_color": high})  # fmt: skip
    to.add([y.title])


def _box(to: Sheet, chart: Json, caption: str) -> None:
    """Write distributions as stacked columns: an unseen one up to the first quartile, then two of the box."""
    names = ("whisker_low", "q1", "median", "q3", "whisker_high")
    boxes = [(series.get("label", ""), box) for series in chart["series"] for box in series["boxes"]]
    numbers = [box[name] for _label, box in boxes for name in names]
    y = axis_of(chart["metric"], numbers)
    to.formats = dict.fromkeys(range(2, 12), _shown(to, y, numbers))
    first_quartile = f"Q1 ({y.unit})" if y.unit else "Q1"
    heads = [_("lower whisker"), first_quartile, _("median"), "Q3", _("upper whisker"), _("mean")]
    lengths = [_("Q1 to median"), _("median to Q3"), _("lower whisker to Q1"), _("Q3 to upper whisker")]
    heads = [chart["x"]["label"], _("Series"), *heads, *lengths, "n"]
    to.heads(heads, ["text", "text", *["number"] * 11])
    first = to.row
    for label, box in sorted(boxes, key=lambda pair: pair[1]["x"]):
        low, q1, median, q3, high = (y.of(box[name]) or 0.0 for name in names)
        to.add([chart["x"]["labels"][box["x"]], label, low, q1, median, q3, high, y.of(box.get("mean")), median - q1,
                q3 - median, q1 - low, high - q3, box.get("n")])  # fmt: skip
    if to.row == first:
        return
    graph = to.book.add_chart({"type": "column", "subtype": "stacked"})
    groups = [to.name, first, 0, to.row - 1, 1]
    last = to.row - 1
    unseen = {"fill": {"none": True}, "border": {"none": True}}
    graph.add_series({"categories": groups, "values": to.cells(first, last, 3), "name": "Q1", **unseen,
                     "y_error_bars": {"type": "custom", "direction": "minus",
                                      "minus_values": _named(to, first, last, 10)}})  # fmt: skip
    graph.add_series({"categories": groups, "values": to.cells(first, last, 8), "name": _("Q1 to median"),
                     "fill": {"color": SHADES[1]}, "border": {"color": EDGE}})  # fmt: skip
    graph.add_series({"categories": groups, "values": to.cells(first, last, 9), "name": _("median to Q3"),
                     "fill": {"color": SHADES[0]}, "border": {"color": EDGE},
                     "y_error_bars": {"type": "custom", "direction": "plus",
                                      "plus_values": _named(to, first, last, 11)}})  # fmt: skip
    graph.set_y_axis(options(y, chart["metric"], numbers))
    graph.set_legend({"none": True})
    to.show(graph, caption)


def _parallel(to: Sheet, chart: Json, caption: str) -> None:
    """Write many runs as rows: no spreadsheet has such a chart, and a filter does what its ranges do."""
    heads = flat.heads_of(chart)
    to.heads(heads, ["text" if axis.get("labels") else "number" for axis in chart["axes"]])
    for row in flat.rows_of(chart):
        to.add(row)
    to.sheet.autofilter(TOP, 0, to.row - 1, len(heads) - 1)


def _all(chart: Json, *names: str) -> list[Any]:
    """Return all numbers of these names among the points of a chart."""
    points = (point for series in chart["series"] for point in series["points"])
    return [point[name] for point in points for name in names if point.get(name) is not None]


def _shown(to: Sheet, axis: SheetAxis, values: list[Any]) -> Any:
    """Return the cells' format for an axis."""
    if axis.is_time:
        return to.styles.of(num_format="yyyy-mm-dd hh:mm", align="left")
    numbers = [value for value in map(axis.of, values) if value is not None]
    return to.styles.of(num_format=number_format(numbers, _DIGITS))


def _look(place: int, name: str) -> Json:
    colour = COLOURS[place % len(COLOURS)]
    mark = {"type": MARKS[place % len(MARKS)], "size": 6, "fill": {"color": colour}, "border": {"color": colour}}
    return {"name": name, "line": {"color": colour, "width": 1.75}, "marker": mark}


def _errors(to: Sheet, first: int, down: int, up: int) -> Json:
    """Return the bars of intervals whose lengths stand in two columns."""
    last = to.row - 1
    values = {"minus_values": _named(to, first, last, down), "plus_values": _named(to, first, last, up)}
    return {"y_error_bars": {"type": "custom", **values}}


def _named(to: Sheet, first: int, last: int, column: int) -> str:
    """Return a range as a formula names it."""
    sheet = to.name.replace("'", "''")
    return f"='{sheet}'!{xl_range_abs(first, column, last, column)}"


def _legend(graph: Chart, chart: Json) -> None:
    several = len(chart["series"]) + len(chart.get("lines", [])) > 1
    graph.set_legend({"position": "bottom"} if several else {"none": True})


_WRITERS: dict[str, Callable[[Sheet, Json, str], None]] = {
    "line": _line,
    "words": _words,
    "heat": _heat,
    "box": _box,
    "parallel": _parallel,
}
