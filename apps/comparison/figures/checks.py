"""Check the JSON of a chart (its forms stand in static/js/charts/) before anything draws it."""

from collections.abc import Callable

from apps.bench.bounds import is_text
from apps.bench.text import Message, _

KINDS = ("line", "heat", "box", "parallel")
# What one figure can show and a reader tell apart; it also bounds the work of drawing.
MOST_SERIES = 60
MOST_LABELS = 1_000
MOST_AXES = 30
MOST_VALUES = 200_000
MOST_CHARACTERS = 300
# Each is drawn by itself, and takes 0.2 to 50 ms of a processor: cells of a heat map, boxes, lines with their words.
MOST_CELLS = 40_000
MOST_BOXES = 2_000
MOST_LINES = 200
# Of the labels of all axes together, each sign is an outline of its own.
MOST_SIGNS = 30_000
# Of runs over parallel axes: rows times axes.
MOST_CROSSINGS = 60_000
# An axis reckons with the products and differences of figures: these, too, are to be numbers.
LARGEST = 1e100
# What a date is written for (s since 1970): the years 1900 to 2300.
EARLIEST, LATEST = -2_208_988_800, 10_413_792_000


# What stands for a value that was not given, where null is one.
_ABSENT = object()
# Raises ChartError unless a value, the first argument, is what it is to be; the second names its place.
Check = Callable[[object, str], None]


class ChartError(Exception):
    """The data is no chart; `place` names the part, e.g. "series[2].points[0].y"."""

    def __init__(self, place: str, message: Message) -> None:
        """Keep the place and what is wrong there."""
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message


def check_chart(chart: object) -> dict[str, object]:
    """Return the chart if it has one of the known forms; ChartError otherwise, naming the place."""
    data = _mapping(chart, "chart")
    kind = data.get("kind", "line")
    if kind not in KINDS:
        raise ChartError("kind", Message(_("choose one of %(kinds)s"), {"kinds": ", ".join(KINDS)}))
    if kind == "parallel":
        _check_parallel(data)
    else:
        _check_axis(data.get("metric"), "metric")
        {"line": _check_line, "heat": _check_heat, "box": _check_box}[str(kind)](data)
    return data


def _check_line(chart: dict[str, object]) -> None:
    x = _mapping(chart.get("x"), "x")
    is_time = x.get("unit") == "time"
    _check_axis(x, "x", takes_time=True)
    check_x = _moment if is_time else _number if x.get("numeric") else _word
    total, words = 0, set()
    for place, series in _items(chart.get("series"), "series", MOST_SERIES):
        _text(series.get("label"), f"{place}.label")
        for at, point in _items(series.get("points"), f"{place}.points", MOST_VALUES):
            check_x(point.get("x"), f"{at}.x")
            if not x.get("numeric"):
                words.add(str(point.get("x")))
            _maybe(point.get("y", _ABSENT), f"{at}.y")
            _maybe(point.get("low"), f"{at}.low")
            _maybe(point.get("high"), f"{at}.high")
            _check_flags(point, at)
            total += 1 + _check_values(point.get("points", []), f"{at}.points")
    _bound(total, "series", MOST_VALUES)
    _bound(len(words), "x", MOST_LABELS)
    _bound(sum(len(word) for word in words), "x", MOST_SIGNS)
    _check_lines(chart.get("lines", []), check_x=_moment if is_time else _number)


def _check_flags(point: dict[str, object], place: str) -> None:
    _maybe(point.get("flagged"), f"{place}.flagged")
    _text(point.get("flags", ""), f"{place}.flags")


def _check_heat(chart: dict[str, object]) -> None:
    sizes = [_check_labels(chart.get(name), name) for name in ("x", "y")]
    for name, size in zip("xy", sizes, strict=True):
        _require_some(size, f"{name}.labels")
    _bound_signs([chart.get("x"), chart.get("y")], "x.labels, y.labels")
    _bound(sizes[0] * sizes[1], "x.labels × y.labels", MOST_CELLS)
    for place, cell in _items(chart.get("cells"), "cells", MOST_VALUES):
        _maybe(cell.get("v", _ABSENT), f"{place}.v")
        _check_flags(cell, place)
        for name, size in zip("xy", sizes, strict=True):
            _index(cell.get(name), f"{place}.{name}", size)
    _check_lines(chart.get("lines", []))


def _check_box(chart: dict[str, object]) -> None:
    size = _check_labels(chart.get("x"), "x")
    _bound_signs([chart.get("x")], "x.labels")
    total = boxes = 0
    for place, series in _items(chart.get("series"), "series", MOST_SERIES):
        _text(series.get("label"), f"{place}.label")
        for at, box in _items(series.get("boxes"), f"{place}.boxes", MOST_LABELS):
            boxes += 1
            _index(box.get("x"), f"{at}.x", size)
            for name in ("q1", "median", "q3", "whisker_low", "whisker_high"):
                _number(box.get(name), f"{at}.{name}")
            _maybe(box.get("mean"), f"{at}.mean")
            total += _check_values(box.get("outliers", []), f"{at}.outliers")
            total += _check_values(box.get("points", []), f"{at}.points")
    _bound(total, "series", MOST_VALUES)
    _bound(boxes, "series", MOST_BOXES)
    _check_lines(chart.get("lines", []))


def _check_parallel(chart: dict[str, object]) -> None:
    axes = _items(chart.get("axes"), "axes", MOST_AXES)
    _require_some(len(axes), "axes")
    labels = 0
    for place, axis in axes:
        _check_axis(axis, place)
        if "labels" in axis:
            labels += _check_labels(axis, place)
    _bound(labels, "axes", MOST_LABELS)
    _bound_signs([axis for _place, axis in axes], "axes")
    rows = _list(chart.get("rows"), "rows")
    _bound(len(rows) * len(axes), "rows × axes", MOST_CROSSINGS)
    for index, row in enumerate(rows):
        values = _list(row, f"rows[{index}]")
        _require_each(len(values), len(axes), f"rows[{index}]")
        for at, value in enumerate(values):
            _maybe(value, f"rows[{index}][{at}]")
            if value is not None and "labels" in axes[at][1]:
                _index(value, f"rows[{index}][{at}]", len(_list(axes[at][1]["labels"], "labels")))
    if chart.get("colour") is not None:
        _index(chart["colour"], "colour", len(axes))
    _check_values(chart.get("hollow", []), "hollow")
    ranges = _list(chart.get("ranges", []), "ranges")
    if ranges:
        _require_each(len(ranges), len(axes), "ranges")
    for index, chosen in enumerate(ranges):
        if chosen is not None and _check_values(chosen, f"ranges[{index}]") != 2:
            raise ChartError(f"ranges[{index}]", Message(_("give a lower and an upper end, or null")))


def _check_lines(lines: object, *, check_x: Check | None = None) -> None:
    on_x = check_x or _number
    for place, line in _items(lines, "lines", MOST_LINES):
        if line.get("axis") not in ("x", "y"):
            raise ChartError(f"{place}.axis", Message(_("choose x or y")))
        along, across = (on_x, _number) if line["axis"] == "y" else (_number, on_x)
        if line.get("value") is not None:
            across(line["value"], f"{place}.value")
        for name in ("label", "style"):
            _text(line.get(name, ""), f"{place}.{name}")
        if line.get("from") is not None:
            along(line.get("from"), f"{place}.from")
            along(line.get("to"), f"{place}.to")


def _check_axis(axis: object, place: str, *, takes_time: bool = False) -> None:
    data = _mapping(axis, place)
    _text(data.get("label"), f"{place}.label")
    _text(data.get("unit"), f"{place}.unit")
    is_time = data.get("unit") == "time"
    if is_time and not takes_time:
        raise ChartError(f"{place}.unit", Message(_("only the x axis of lines shows times")))
    for end in ("min", "max"):
        if data.get(end) is not None:
            (_moment if is_time else _number)(data[end], f"{place}.{end}")


def _check_labels(axis: object, place: str) -> int:
    """Check an axis of words and return how many it has."""
    data = _mapping(axis, place)
    _text(data.get("label"), f"{place}.label")
    labels = _list(data.get("labels"), f"{place}.labels")
    _bound(len(labels), f"{place}.labels", MOST_LABELS)
    for index, label in enumerate(labels):
        _text(label, f"{place}.labels[{index}]")
    return len(labels)


def _bound_signs(axes: list[object], place: str) -> None:
    """Bound the signs of the labels, checked already, of all axes together."""
    labels = [_list(_mapping(axis, place).get("labels", []), place) for axis in axes]
    _bound(sum(len(str(label)) for part in labels for label in part), place, MOST_SIGNS)


def _check_values(values: object, place: str) -> int:
    numbers = _list(values, place)
    for index, value in enumerate(numbers):
        _number(value, f"{place}[{index}]")
    return len(numbers)


def _mapping(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ChartError(place, Message(_("give an object with names and values")))
    return value


def _list(value: object, place: str) -> list[object]:
    if not isinstance(value, list):
        raise ChartError(place, Message(_("give a list")))
    return value


def _items(value: object, place: str, most: int) -> list[tuple[str, dict[str, object]]]:
    """Return (place, item) of a list of objects that is not too long."""
    items = _list(value, place)
    _bound(len(items), place, most)
    return [(f"{place}[{index}]", _mapping(item, f"{place}[{index}]")) for index, item in enumerate(items)]


def _bound(count: int, place: str, most: int) -> None:
    if count > most:
        raise ChartError(place, Message(_("show %(most)s at most, not %(count)s"), {"most": most, "count": count}))


def _require_some(count: int, place: str) -> None:
    if not count:
        raise ChartError(place, Message(_("give one at least")))


def _require_each(count: int, axes: int, place: str) -> None:
    if count != axes:
        raise ChartError(place, Message(_("give one value for each of the %(n)s axes"), {"n": axes}))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _is_moment(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and EARLIEST <= value <= LATEST


def _require(test: Callable[[object], bool], requirement: str) -> Check:
    def check(value: object, place: str) -> None:
        if not test(value):
            raise ChartError(place, Message(requirement))

    return check


_number = _require(_is_number, _("give a finite number"))
_moment = _require(_is_moment, _("give seconds since 1970, of the years 1900 to 2300"))
_maybe = _require(lambda value: value is None or _is_number(value), _("give a finite number or null"))
_short_word = _require(
    lambda value: isinstance(value, str | int | float) and len(str(value)) <= MOST_CHARACTERS,
    _("give a text of 300 characters at most, or a number"),
)
_short_text = _require(
    lambda value: isinstance(value, str) and len(value) <= MOST_CHARACTERS, _("give a text of 300 characters at most")
)
_drawable = _require(
    lambda value: is_text(str(value)), _("leave out the character of number zero and half characters")
)


def _word(value: object, place: str) -> None:
    _short_word(value, place)
    _drawable(value, place)


def _text(value: object, place: str) -> None:
    _short_text(value, place)
    _drawable(value, place)


def _index(value: object, place: str, size: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < size:
        raise ChartError(place, Message(_("give a place in the labels, 0 to %(last)s"), {"last": size - 1}))
