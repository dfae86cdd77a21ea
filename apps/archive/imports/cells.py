"""Cells of tables: values as a workbook has them, texts of a CSV."""

import re
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

LONGEST_CELL = 1000
# Words within a format of numbers, which are shown as they are.
_QUOTED = re.compile(r'"[^"]*"|\\\\.')

Cell = str | int | float | datetime | None


def text_of(cell: Cell) -> str:
    """Return a cell as text; whole numbers of a workbook without “.0”."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return cell.isoformat(sep=" ") if isinstance(cell, datetime) else str(cell).strip()


def shown(cell: Any) -> Cell:
    """Return what a cell holds; a number that is shown in per cent with its sign: “0.5 %” of 0.005."""
    value = _plain(cell.value)
    if isinstance(value, int | float) and "%" in _QUOTED.sub("", cell.number_format or ""):
        return f"{(Decimal(repr(value)) * 100).normalize():f} %"
    return value


def _plain(cell: object) -> Cell:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, datetime | int | float) or cell is None:
        return cell
    if isinstance(cell, date):
        return datetime.combine(cell, time())
    text = shortened(str(cell).strip())
    # openpyxl gives errors of formulas as their text.
    return None if text in ("", "#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!") else text


def shortened(text: str) -> str:
    """Return a text with so much of it as a cell may have."""
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…"
