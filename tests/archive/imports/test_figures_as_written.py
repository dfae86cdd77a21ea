"""What is written in a table is what is stored, of every unit and form of a cell, or is refused with a reason."""

import io
from fractions import Fraction
from types import SimpleNamespace

import pytest
from openpyxl import Workbook

from apps.archive.imports import columns, figures, services, tables
from apps.bench.toolkit import Tool
from apps.bench.tools import all_tools
from apps.bench.units import BASE_UNITS, UnitError
from apps.testbeds.models import Node
from tests.archive.imports import sending

METRICS = {metric.unit: (tool, metric) for tool in all_tools() for metric in tool.metrics}
NUMBERS = ("1", "11", "0.91", "0.991", "4.1", "1.01", "3.1", "0.5", "100", "1e1", "15001", "0.001")
PERCENT = {"fraction": Fraction(1, 100), "1": Fraction(1, 100), "%": Fraction(1)}
# Spellings of a number, with the share of it that each is; None where it must be refused.
FORMS = {"{n}": 1, " {n} ": 1, "+{n}": 1, "{n}\u00a0": 1, "{n}x": None, "{n} 1": None, "1,{n}": None, "{n} 000": None}


def read(unit: str, text: str, of_column: str) -> float | None:
    """Return what is stored of a cell, None if it is refused."""
    try:
        return figures.read_figure(METRICS[unit][1], text, of_column)
    except UnitError as error:
        assert str(error), text
        return None


def close(value: float | None, expected: Fraction | None) -> bool:
    """Return whether a figure is the expected one, to the last digit but one of a float."""
    if value is None or expected is None:
        return value is None and expected is None
    return abs(Fraction(value) - expected) <= abs(expected) * Fraction(1, 10**15)


def exact(number: str) -> Fraction:
    return Fraction(number)


@pytest.mark.parametrize("unit", sorted(METRICS))
def test_every_form_of_a_cell_is_stored_as_written_or_refused(unit: str) -> None:
    own = () if unit == "1" else ("{n} " + unit, "{n}" + unit) if not unit[0].isdigit() else ("{n} " + unit, "{n}/s")
    forms: dict[str, int | Fraction | None] = {**FORMS, **dict.fromkeys(own, 1)}
    forms |= dict.fromkeys(("{n} %", "{n}%", "{n}\uff05"), PERCENT.get(unit))
    for of_column in {"", unit}:
        for form, share in forms.items():
            for number in NUMBERS:
                text = form.format(n=number)
                expected = None if share is None else exact(number) * share
                # Whole things that a unit follows have no fraction of the smallest.
                value = read(unit, text, of_column)
                is_part = form in own and unit in ("B", "bit/s", "B/s") and exact(number).denominator != 1
                assert close(value, expected) or (is_part and value is None), (text, of_column, value)


@pytest.mark.parametrize(
    ("unit", "of_column", "factor"),
    [
        ("bit/s", "Mbit/s", Fraction(10**6)), ("B/s", "MiB/s", Fraction(2**20)), ("s", "us", Fraction(1, 10**6)),
        ("fraction", "%", Fraction(1, 100)), ("1", "%", Fraction(1, 100)), ("1", "1", Fraction(1)),
        ("%", "%", Fraction(1)),
    ],
)  # fmt: skip
def test_a_number_is_in_the_unit_of_its_column(unit: str, of_column: str, factor: Fraction) -> None:
    assert all(close(read(unit, number, of_column), exact(number) * factor) for number in NUMBERS)


def test_units_of_other_things_are_no_units_of_a_column() -> None:
    for unit, (tool, metric) in METRICS.items():
        wrong = [other for other in ("1", "%", "Mbit/s", "KiB", "ms") if other not in PERCENT or unit not in PERCENT]
        for other in wrong:
            mapping = {"x": {"as": "metric", "name": metric.name, "unit": other}}
            is_fit = (other, unit) in (("Mbit/s", "bit/s"), ("Mbit/s", "B/s"), ("KiB", "B"), ("ms", "s"))
            is_fit |= other == "%" and unit in PERCENT
            assert ("x" in columns.check(tool, ["x"], mapping)) is not is_fit, (unit, other)


MAPPING = {
    "window": {"as": "parameter", "name": "window"},
    "goodput": {"as": "metric", "name": "goodput", "unit": "Mbit/s"},
    "algorithm": {"as": "parameter", "name": "congestion"},
}


def stored(cast: SimpleNamespace, name: str, content: bytes, mapping: dict[str, dict[str, str]]) -> dict[int, object]:
    """Return {line: the figure of its only metric, or why it is refused}."""
    imported = sending.send(cast, {name: content}, kind="table")
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=mapping)
    imported = sending.advance(imported)
    assert imported.state == "ready", imported.reason
    return {
        item.place: str(item.refusal) if item.refusal else next(iter(item.values.values()))
        for item in imported.items.all()
    }


COMMAS = ("941,3", "1.234,5", "0,125", "1.234.567", "12,5 Mbit/s", "1 234,5")


@pytest.mark.parametrize("comma", COMMAS)
def test_the_sign_of_the_decimals_is_the_tables(comma: str, cast: SimpleNamespace, ends: list[Node]) -> None:
    """Wherever the cell stands that shows it, and in whichever column of numbers."""
    for column in ("goodput", "window"):
        cells = [("64 KiB", "1.234", "cubic"), ("64 KiB", "1.234 Mbit/s", "cubic"), ("64 KiB", "941", "cubic")]
        cells += [("1.234", "940", "cubic"), ("64 KiB", "0.98", "cubic"), ("64 KiB", comma, "cubic")]
        if column == "window":
            cells[-1] = (comma, "943", "cubic")
        lines = [";".join(MAPPING), *(";".join(row) for row in cells)]
        result = stored(cast, "a.csv", "\n".join(lines).encode(), MAPPING)
        assert {line for line, value in result.items() if isinstance(value, str)} == {2, 3, 5, 7}
        assert (result[4], result[6]) == (941e6, 0.98e6)
        assert all(comma in str(result[line]) and "line" in str(result[line]) for line in (2, 3, 5))


def test_without_a_decimal_comma_a_point_is_one_of_decimals(cast: SimpleNamespace, ends: list[Node]) -> None:
    table = b"window;goodput;algorithm\n64 KiB;1.234;cubic\n64 KiB;1,234;cubic\n64 KiB;1,234.5;cubic\n"
    result = stored(cast, "a.csv", table, MAPPING)
    assert result[2] == 1.234e6
    assert "thousands without a separator" in str(result[3]) and "thousands without a separator" in str(result[4])


# Of large rates alone nobody can tell 1.234 from 1,234; each of these cells beside them tells that it is 1.234.
POINTS = ("0.98", "12.5", "1.2345", "941.50", "1.5e3", "1,234.5", ".5")
# These tell it of their own column only: a spreadsheet formats each column by itself.
UNSEPARATED = ("15001", "123456 KiB", "2e6")


def of_column(cast: SimpleNamespace, goodputs: tuple[str, ...], windows: tuple[str, ...]) -> list[object]:
    rows = [f'"{window}";"{goodput}";cubic' for window, goodput in zip(windows, goodputs, strict=True)]
    return list(stored(cast, "a.csv", "\n".join([";".join(MAPPING), *rows]).encode(), MAPPING).values())


@pytest.mark.parametrize(
    ("goodputs", "windows"),
    [
        (("1.234", "1.341", "2.005"), ("64 KiB",) * 3),
        (("1.234", "941", "12.005"), ("64 KiB",) * 3),
        (("1.234 Mbit/s", "941", "2.005"), ("64",) * 3),
        (("+1.234", "941", "940"), ("1.024", "64", "64")),
    ],
)
def test_of_a_table_that_does_not_tell_decimals_from_thousands_nothing_is_guessed(
    goodputs: tuple[str, ...], windows: tuple[str, ...], cast: SimpleNamespace, ends: list[Node]
) -> None:
    values = of_column(cast, goodputs, windows)
    for goodput, window, value in zip(goodputs, windows, values, strict=True):
        is_open = "." in goodput or "." in window
        assert isinstance(value, str) is is_open
        assert not is_open or "not known" in str(value)


@pytest.mark.parametrize("shown", [*POINTS, *UNSEPARATED])
@pytest.mark.parametrize("column", ["goodput", "window"])
def test_one_cell_that_shows_the_sign_of_the_decimals_tells_it_of_its_column_and_a_fraction_of_all(
    shown: str, column: str, cast: SimpleNamespace, ends: list[Node]
) -> None:
    goodputs, windows = ("1.234", "2.005", "941"), ("64 KiB", "64 KiB", "64 KiB")
    if column == "goodput":
        goodputs = (*goodputs[:2], shown.removesuffix(" KiB"))
    else:
        windows = (*windows[:2], shown)
    values = of_column(cast, goodputs, windows)[:2]
    if column == "window" and shown in UNSEPARATED:
        assert all("not known" in str(value) for value in values)
    else:
        assert values == [1.234e6, 2.005e6]


@pytest.mark.parametrize("tool", [tool for tool in all_tools() if tool.metrics], ids=lambda tool: tool.slug)
def test_no_whole_number_of_any_parameter_tells_decimals_from_thousands_in_a_metric(tool: Tool) -> None:
    """Ports, windows, sizes, counts: whatever a table has beside its figures, and however large it is."""
    metric = tool.metrics[0].name
    for parameter in tool.parameters:
        columns_of = {
            parameter.name: {"as": "parameter", "name": parameter.name},
            "x": {"as": "metric", "name": metric},
        }
        cells = [("65536", "1.234"), ("5201", "2.005"), ("131072", "941")]
        rows = [("", line, dict(zip((parameter.name, "x"), own, strict=True))) for line, own in enumerate(cells, 2)]
        signs = figures.find_signs(rows, columns.of_numbers(tool, columns_of))[""]
        assert isinstance(signs.get("x"), figures.UnknownPoint), parameter.name


SAID = {
    ".": (("1.234", 1.234e6), ("941.3", 941.3e6), ("1,234", None), ("941,3", None), ("15001", 15001e6)),
    ",": (
        *(("1.234", 1234e6), ("941,3", 941.3e6), ("1.234,5", 1234.5e6), ("1 234,5", 1234.5e6), ("0,125", 0.125e6)),
        *(("1.234.567", 1234567e6), ("941.3", None), ("1,234.5", None), ("12,5 Gbit/s", 12.5e9), ("15001", 15001e6)),
        *(("1,5e3", 1500e6), ("x", None), ("1.23", None)),
    ),
}


@pytest.mark.parametrize("sign", SAID)
def test_a_sign_that_is_said_counts_whatever_the_table_shows(
    sign: str, cast: SimpleNamespace, ends: list[Node]
) -> None:
    """Of the columns it is said of, and not of others."""
    mapping = {**MAPPING, "goodput": {**MAPPING["goodput"], "decimals": sign}}
    lines = [";".join(MAPPING), *(f"64 KiB;{text};cubic" for text, _value in SAID[sign])]
    values = stored(cast, "a.csv", "\n".join(lines).encode(), mapping)
    for (text, expected), value in zip(SAID[sign], values.values(), strict=True):
        assert isinstance(value, str) if expected is None else value == pytest.approx(expected, rel=1e-12), text


def test_what_is_no_sign_of_decimals_is_refused() -> None:
    tool = METRICS["bit/s"][0]
    metric = {"as": "metric", "name": METRICS["bit/s"][1].name}
    assert "x" in columns.check(tool, ["x"], {"x": {**metric, "decimals": ";"}})
    assert not columns.check(tool, ["x"], {"x": {**metric, "decimals": ","}})


def test_a_workbooks_per_cent_are_read_as_they_stand_there(cast: SimpleNamespace, ends: list[Node]) -> None:
    """A cell that shows 0.5 % holds 0.005: read as a bare number of a column in per cent it would be 0.005 %."""
    book = Workbook()
    book.active.append(["window", "cpu", "run"])
    for number, (share, form) in enumerate(
        ((0.5, "0%"), (0.005, "0.0%"), (1, "0%"), (42, "General"), (0.07, "0.00%"))
    ):
        book.active.append([65536, share, number + 1])
        book.active.cell(number + 2, 2).number_format = form
    file = io.BytesIO()
    book.save(file)
    mapping = {
        "window": {"as": "parameter", "name": "window"},
        "cpu": {"as": "metric", "name": "cpu_local", "unit": "%"},
        "run": {"as": "repetition"},
    }
    assert list(stored(cast, "a.xlsx", file.getvalue(), mapping).values()) == [50, 0.5, 100, 42, 7]
    assert [row["cpu"] for _sheet, _line, row in tables.read_rows(file, "a.xlsx")][:2] == ["50 %", "0.5 %"]


@pytest.mark.parametrize(
    "unit", ["Mbits/sec", "kbit/sec", "MB/sec", "MBytes/sec", "KBytes/sec", "10^6 b/s", "mean", "kB"]
)
def test_a_unit_in_a_header_is_read_or_refused_and_never_left_out(unit: str) -> None:
    for tool, metric in METRICS.values():
        if metric.unit not in BASE_UNITS.values():
            continue
        header = f"{metric.name} ({unit})"
        mapping = columns.guess(tool, [header])
        assert mapping[header]["unit"] == unit
        try:
            figures.read_figure(metric, "1", unit)
        except UnitError:
            assert header in columns.check(tool, [header], mapping)
        else:
            assert columns.check(tool, [header], mapping) == {}
