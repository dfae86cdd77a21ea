"""Read the rows of a table: CSV in whatever encoding and separator, or the first sheet of an XLSX workbook.

Formulas are never evaluated: of a workbook the values count that were saved with it, in CSV they are mere text.
"""

import codecs
import csv
import io
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, time
from typing import BinaryIO

from apps.bench.text import Message, _
from apps.results.imports.containers import ContainerError, Limits, Package, is_workbook, printable

MIB = 1024 * 1024
MOST_BYTES = 64 * MIB
MOST_COLUMNS = 200
MOST_ROWS = 10_000
LONGEST_CELL = 1000
# A workbook's sheet may have its rows anywhere; so many without anything in them end it.
MOST_BLANKS = 1000
_WORKBOOK = Limits(entries=1000, total_bytes=256 * MIB, entry_bytes=256 * MIB)
_DELIMITERS = ",;\t|"
# How zips, and the workbooks of old office programs, begin.
_OFFICE = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_UNREADABLE = _("The workbook cannot be read: save it again as XLSX, or as CSV.")

Cell = str | int | float | datetime | None
# The line of the sheet, and the cells by header.
Row = tuple[int, dict[str, Cell]]


class TableError(Exception):
    """A table that cannot be read; `message` says why and what to do."""

    def __init__(self, text: str, **values: object) -> None:
        self.message = Message(text, values)
        super().__init__(str(self.message))


def read_table(file: BinaryIO) -> tuple[list[str], Iterator[Row]]:
    """Return the headers and an iterator over the rows; TableError or ContainerError, also while iterating."""
    lines = _workbook(file) if is_workbook(file) else _separated(file)
    first = next(lines, None)
    if first is None:
        raise TableError(_("The table is empty: its first line holds the names of the columns."))
    headers = _headers(first[1])
    return headers, _rows(headers, lines)


def text_of(cell: Cell) -> str:
    """Return a cell as text; whole numbers of a workbook without “.0”."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return cell.isoformat(sep=" ") if isinstance(cell, datetime) else str(cell).strip()


def _headers(cells: list[Cell]) -> list[str]:
    while cells and cells[-1] in (None, ""):
        cells = cells[:-1]
    if len(cells) > MOST_COLUMNS:
        raise TableError(_("The table has more than %(most)s columns: leave some out."), most=MOST_COLUMNS)
    headers: list[str] = []
    for number, cell in enumerate(cells, start=1):
        name = printable(text_of(cell))[:100] or f"#{number}"
        headers.append(name if name not in headers else f"{name} #{number}")
    if not headers:
        raise TableError(_("The first line of the table is blank: it holds the names of the columns."))
    return headers


def _rows(headers: list[str], lines: Iterator[tuple[int, list[Cell]]]) -> Iterator[Row]:
    count = 0
    for number, cells in lines:
        if all(cell in (None, "") for cell in cells):
            continue
        count += 1
        if count > MOST_ROWS:
            raise TableError(_("The table has more than %(most)s rows: send it in parts."), most=MOST_ROWS)
        yield number, dict(zip(headers, cells, strict=False))


def _separated(file: BinaryIO) -> Iterator[tuple[int, list[Cell]]]:
    file.seek(0)
    raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise TableError(_("The table is larger than %(most)s MiB: send it in parts."), most=MOST_BYTES // MIB)
    if raw.startswith(_OFFICE):
        raise TableError(_UNREADABLE)
    text = _decoded(raw)
    if "\x00" in text:
        raise TableError(_("This is no table: it holds bytes that no text has. Send CSV or XLSX."))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=False)
    try:
        for cells in reader:
            yield reader.line_num, [_shortened(cell.strip()) for cell in cells[: MOST_COLUMNS + 1]]
    except csv.Error as error:
        raise TableError(_("Line %(line)s cannot be read: %(why)s"), line=reader.line_num, why=str(error)) from error


def _decoded(raw: bytes) -> str:
    is_wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if is_wide else ("utf-8-sig", "cp949"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise TableError(_("The table's encoding is not known: save it as “CSV UTF-8”."))


def _delimiter(text: str) -> str:
    """Return the separator that the first line has most of."""
    first = next((line for line in text[: 64 * 1024].splitlines() if line.strip()), "")
    return max(_DELIMITERS, key=first.count)


def _workbook(file: BinaryIO) -> Iterator[tuple[int, list[Cell]]]:
    # Heavy, and needed in workers only.
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    _check_workbook(file)
    try:
        with closing(load_workbook(file, read_only=True, data_only=True, keep_links=False)) as book:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()
            blanks = 0
            for number, cells in enumerate(sheet.iter_rows(values_only=True, max_col=MOST_COLUMNS + 1), start=1):
                row = [_plain(cell) for cell in cells]
                blanks = blanks + 1 if all(cell is None for cell in row) else 0
                if blanks > MOST_BLANKS:
                    return
                yield number, row
    except (
        InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, IndexError, TypeError, AttributeError,
        SyntaxError, EOFError, OSError, OverflowError,
    ) as error:  # fmt: skip
        # What openpyxl raises for workbooks that are none; a parser's error in XML is a SyntaxError.
        raise TableError(_UNREADABLE) from error


def _check_workbook(file: BinaryIO) -> None:
    """Refuse a workbook that is a bomb, or whose XML declares things of its own."""
    file.seek(0)
    package = Package(file, _WORKBOOK)
    for name in package.names:
        if name.endswith((".xml", ".rels")):
            with package.open(name) as part:
                if b"<!DOCTYPE" in part.read(4096):
                    text = Message(_("%(name)s is not what office programs write: save the workbook again."))
                    raise ContainerError("unsafe", Message(text.msgid, {"name": name}))
    file.seek(0)


def _plain(cell: object) -> Cell:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, datetime | int | float) or cell is None:
        return cell
    if isinstance(cell, date):
        return datetime.combine(cell, time())
    text = _shortened(str(cell).strip())
    # openpyxl gives errors of formulas as their text.
    return None if text in ("", "#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!") else text


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…"
