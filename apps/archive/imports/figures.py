"""Figures of a table's cells: what is written is what is stored, or is refused with its reason.

A cell is a number with a unit of its own, or without one: then it is in the column's unit, else in the metric's.
Which sign stands for the decimals is never the cell's to tell: "1.234" beside "941,3" may be 1,234. Spreadsheets put
separators between thousands column by column, so that 65536 in one column tells nothing of 1.234 in another.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.archive.imports.tables import Row
from apps.bench import bounds, units
from apps.bench.text import Message, _
from apps.bench.toolkit import Metric

_KINDS = {"bit/s": "rate", "B/s": "byte-rate", "B": "size", "s": "duration"}
_NUMBER = r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]{1,3})?"
_BARE = re.compile(_NUMBER)
_FIGURE = re.compile(rf"({_NUMBER})(\s*)(.*)", re.S)
# How a unit may be written that is none of a quantity's; of "15001/s" the 1 is the number's.
_SPELLINGS = {"1": (), "": (), "1/s": ("1/s", "/s")}
# What a hundredth is of a metric in these units.
_PERCENT = {"fraction": Decimal("0.01"), "1": Decimal("0.01"), "%": Decimal(1)}
# "941,3", "1.234,5", "0,125" and "1.234.567": none of them is written where "." is the sign of the decimals.
_COMMA = re.compile(
    r"[+-]?(?:[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})|0,[0-9]+|[0-9]{1,3}(?:[. ][0-9]{3})+,[0-9]+"
    r"|[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,})(?![0-9.,])\s*[^0-9]*"
)
# "0.98", "12.5", "1.2345", "1.5e6" and "1,234.5": none of them is written where "." separates thousands.
_POINT = re.compile(
    r"[+-]?(?:0*\.[0-9]+|[0-9]+\.(?:[0-9]{1,2}|[0-9]{4,})|[0-9]{4,}\.[0-9]+"
    r"|[0-9]+\.[0-9]+[eE][+-]?[0-9]{1,3}|[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+)(?![0-9.,])\s*[^0-9]*"
)
# "15001" and "1e6": where they stand nothing separates thousands; other columns may have them separated.
_UNSEPARATED = re.compile(r"[+-]?(?:[0-9]{4,}|[0-9]+[eE][+-]?[0-9]{1,3})(?![0-9.,])\s*[^0-9]*")
# What is a number of thousands there.
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}(?![0-9.,])\s*[^0-9]*")
# A number with whatever separators, and what follows it; and the numbers that have their decimals behind a comma.
_WRITTEN = re.compile(
    r"([+-]?[0-9][0-9.,]*(?: [0-9]{3}(?![0-9])[0-9.,]*)*(?:[eE][+-]?[0-9]{1,3})?)(\s*[^0-9].*|)", re.S
)
_WHOLE = r"(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]{1,3}(?: [0-9]{3})+)"
_WITH_COMMA = re.compile(rf"[+-]?{_WHOLE}(?:,[0-9]+)?(?:[eE].*)?")


@dataclass(frozen=True)
class DecimalComma:
    """A cell that shows that the decimals of its sheet follow a comma, and where it stands."""

    text: str
    line: int

    def refuse(self, text: str) -> None:
        """Raise UnitError for a number whose point may separate thousands."""
        if not _THOUSANDS.fullmatch(units.normalise(text)):
            return
        words = _(
            "“%(text)s” may be thousands, for “%(other)s” in line %(line)s has a decimal comma: write the decimal"
            " point as “.” in the whole table, and thousands without a separator."
        )
        raise units.UnitError(Message(words, {"text": text[:40], "other": self.text[:40], "line": self.line}))


@dataclass(frozen=True)
class UnknownPoint:
    """That no cell shows whether the point of a column is that of decimals or separates thousands."""

    def refuse(self, text: str) -> None:
        """Raise UnitError for a number whose point may be either."""
        if not _THOUSANDS.fullmatch(units.normalise(text)):
            return
        words = _(
            "“%(text)s” may have decimals or thousands: not known, for neither its column nor a decimal fraction"
            " elsewhere in the table tells which. Say which sign its decimals have, or write thousands without a"
            " separator."
        )
        raise units.UnitError(Message(words, {"text": text[:40]}))


Sign = DecimalComma | UnknownPoint


def find_signs(rows: Iterable[Row], headers: Iterable[str]) -> Mapping[str, Mapping[str, Sign]]:
    """Return {sheet: {header: what refuses a point}} of the columns in which it is not shown to be that of decimals.

    A CSV is a sheet without a name. One decimal comma makes all columns of its sheet doubtful. That "." is the sign
    of the decimals a fraction shows of all of them, and a large number without a separator of its own column.
    """
    rows_by_sheet: dict[str, list[Row]] = {}
    for row in rows:
        rows_by_sheet.setdefault(row[0], []).append(row)
    names = tuple(headers)
    return {sheet: _signs_of(own, names) for sheet, own in rows_by_sheet.items()}


def _signs_of(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Sign]:
    """Return {header: what refuses a point} of one sheet."""
    texts = {name: [cell for _sheet, _line, row in rows if isinstance(cell := row.get(name), str)] for name in names}
    if comma := _find_comma(rows, names):
        return dict.fromkeys(names, comma)
    if any(_is_any(_POINT.fullmatch, own) for own in texts.values()):
        return {}
    return {name: UnknownPoint() for name, own in texts.items() if not _is_any(_UNSEPARATED.fullmatch, own)}


def _find_comma(rows: Iterable[Row], names: Sequence[str]) -> DecimalComma | None:
    """Return the first cell of these columns that is written with a decimal comma; None where there is none."""
    for _sheet, line, cells in rows:
        for name in names:
            cell = cells.get(name)
            if isinstance(cell, str) and _COMMA.fullmatch(units.normalise(cell)):
                return DecimalComma(cell, line)
    return None


def _is_any(is_written_so: Callable[[str], object], cells: Iterable[str]) -> bool:
    return any(is_written_so(units.normalise(cell)) for cell in cells)


def with_point(text: str) -> str:
    """Return a number of a column whose decimals are said to follow a comma as the readers of numbers take it.

    UnitError for one that is not written so; what is no number is returned as it is.
    """
    plain = units.normalise(text)
    match = _WRITTEN.fullmatch(plain)
    if match is None:
        return text
    if not _WITH_COMMA.fullmatch(match[1]):
        words = _("“%(text)s” is no number with a decimal comma, as its column is said to have them.")
        raise units.UnitError(Message(words, {"text": text[:40]}))
    return re.sub(r"[. ]", "", match[1]).replace(",", ".") + match[2]


def read_figure(metric: Metric, text: str, unit: str) -> float:
    """Return a cell's figure in the metric's base unit; UnitError if it is none, or one that nothing measures."""
    plain = units.normalise(text)
    kind = _KINDS.get(metric.unit)
    own = ("", "1") if metric.unit in ("1", "") else ("", metric.unit)
    if unit not in own and _BARE.fullmatch(plain):
        plain = f"{plain} {unit}"
    value = units.exact_value(plain, kind) if kind and units.has_unit(plain) else _number(metric, plain)
    return _within_bounds(metric, float(value), text)


def with_unit(text: str, unit: str) -> str:
    """Return a parameter's text with the column's unit, unless it has one of its own."""
    return f"{text} {unit}" if unit and _BARE.fullmatch(units.normalise(text)) else text


def _number(metric: Metric, plain: str) -> Decimal:
    """Return a number without a unit, with the metric's own, or in per cent of what has no dimension."""
    match = _FIGURE.fullmatch(plain) if len(plain) <= units.LONGEST_QUANTITY else None
    if match is None or not match[3]:
        return units.exact_value(plain, "float")
    own = match[3] in _SPELLINGS.get(metric.unit, (metric.unit,))
    if own and (match[2] or not match[3][0].isdigit()):
        return units.exact_value(match[1], "float")
    if match[3] == "%" and metric.unit in _PERCENT:
        return units.exact_value(match[1], "float") * _PERCENT[metric.unit]
    return units.exact_value(plain, "float")


def _within_bounds(metric: Metric, value: float, text: str) -> float:
    problem = bounds.problem_of(value, metric)
    if problem == "negative":
        raise units.UnitError(
            Message(_("“%(text)s” is less than zero: leave out the minus sign."), {"text": text[:40]})
        )
    if problem:
        raise units.UnitError(Message(_("“%(text)s” is larger than anything measured."), {"text": text[:40]}))
    return value
