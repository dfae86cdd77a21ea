"""Read the rows of a table: CSV in whatever encoding and separator, or sheets of an XLSX workbook.

Formulas are never evaluated: of a workbook the values count that were saved with it, in CSV they are mere text.
"""

import codecs
import csv
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

from apps.archive.imports.cells import Cell, shortened, shown, text_of
from apps.archive.imports.containers import ContainerError, Package, UnpackingLimits, is_workbook, printable, xml
from apps.archive.imports.containers.limits import DAMAGES
from apps.archive.imports.csv_lines import CountedLines, TooManySeparatorsError
from apps.bench.text import Message, _

MIB = 1024 * 1024
MOST_BYTES = 64 * MIB
# In all cells that are read: each row is kept as it stands, with several bytes for a letter.
MOST_LETTERS = 16 * MIB
MOST_COLUMNS = 200
MOST_ROWS = 10_000
MOST_SHEETS = 50
LONGEST_NAME = 100
# So many rows are shown while columns are given their meaning, and so much of each cell.
SHOWN, SHOWN_CELL = 8, 80
# A workbook's sheet may have its rows anywhere; so many without anything in them end it.
MOST_BLANKS = 1000
_WORKBOOK = UnpackingLimits(entries=1000, total_bytes=128 * MIB, entry_bytes=64 * MIB)
_DELIMITERS = ",;\t|"
# How zips, and the workbooks of old office programs, begin.
_OFFICE = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_TOO_LARGE = _("The table is larger than %(most)s MiB: send it in parts.")
_UNREADABLE = _("The workbook cannot be read: save it again as XLSX, or as CSV.")

# The line of a sheet, and its cells in order.
Line = tuple[int, list[Cell]]
# The sheet (of a CSV ""), the line of it, and the cells by header.
Row = tuple[str, int, dict[str, Cell]]


class TableError(Exception):
    """A table that cannot be read; `message` says why and what to do."""

    def __init__(self, text: str, **values: object) -> None:
        self.message = Message(text, values)
        super().__init__(str(self.message))


@dataclass(frozen=True)
class Head:
    """How a sheet begins, as texts; `problem` says why it cannot be read. A CSV is a sheet without a name."""

    name: str
    is_hidden: bool = False
    headers: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    problem: Message | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        problem = self.problem.as_json() if self.problem else None
        values = {"headers": list(self.headers), "rows": [list(row) for row in self.rows], "problem": problem}
        return {"name": self.name, "is_hidden": self.is_hidden, **values}


@dataclass(frozen=True)
class _Sheet:
    name: str
    is_hidden: bool
    lines: Iterator[Line]


def read_heads(file: BinaryIO, name: str) -> list[Head]:
    """Return how each sheet of a file begins; TableError or ContainerError if none of them can be read."""
    heads = [_head(sheet) for sheet in _sheets(file, name)]
    problem = next((head.problem for head in heads if head.problem), None)
    if problem is not None and not any(head.headers for head in heads):
        raise TableError(problem.msgid, **problem.params)
    return heads


def read_rows(file: BinaryIO, name: str, sheet_names: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the rows of the chosen sheets, of the first if none is; TableError or ContainerError, also on the way."""
    remaining, count, letters = set(sheet_names), 0, 0
    for sheet in _sheets(file, name):
        if sheet_names and sheet.name not in remaining:
            continue
        for number, cells in _cells(_headers(sheet.lines), sheet.lines):
            count += 1
            if count > MOST_ROWS:
                raise TableError(_("The table has more than %(most)s rows: send it in parts."), most=MOST_ROWS)
            # A workbook shares one text among many cells.
            letters += sum(len(cell) for cell in cells.values() if isinstance(cell, str))
            if letters > MOST_LETTERS:
                raise TableError(_TOO_LARGE, most=MOST_LETTERS // MIB)
            yield sheet.name, number, cells
        remaining.discard(sheet.name)
        if not remaining:
            return


def _head(sheet: _Sheet) -> Head:
    try:
        headers = _headers(sheet.lines)
        first = [row for _number, row in islice(_cells(headers, sheet.lines), SHOWN)]
    except TableError as error:
        return Head(sheet.name, sheet.is_hidden, problem=error.message)
    rows = [[text_of(cells.get(header))[:SHOWN_CELL] for header in headers] for cells in first]
    return Head(sheet.name, sheet.is_hidden, headers, rows)


def _headers(lines: Iterator[Line]) -> list[str]:
    first = next(lines, None)
    if first is None:
        raise TableError(_("The table is empty: its first line holds the names of the columns."))
    cells = first[1]
    while cells and cells[-1] in (None, ""):
        cells = cells[:-1]
    if len(cells) > MOST_COLUMNS:
        raise TableError(_("The table has more than %(most)s columns: leave some out."), most=MOST_COLUMNS)
    if not cells:
        raise TableError(_("The first line of the table is blank: it holds the names of the columns."))
    return _named(text_of(cell) for cell in cells)


def _named(texts: Iterable[str]) -> list[str]:
    """Return names, each once, of columns or sheets; those without one are numbered."""
    names: list[str] = []
    for number, text in enumerate(texts, start=1):
        name = printable(text)[:LONGEST_NAME] or f"#{number}"
        names.append(name if name not in names else f"{name} #{number}")
    return names


def _cells(headers: list[str], lines: Iterator[Line]) -> Iterator[tuple[int, dict[str, Cell]]]:
    for number, cells in lines:
        if any(cell not in (None, "") for cell in cells):
            yield number, dict(zip(headers, cells, strict=False))


def _sheets(file: BinaryIO, name: str) -> Iterator[_Sheet]:
    return _workbook(file, name) if is_workbook(file, name) else iter((_Sheet("", False, _separated(file)),))


def _separated(file: BinaryIO) -> Iterator[Line]:
    file.seek(0)
    raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise TableError(_TOO_LARGE, most=MOST_BYTES // MIB)
    if raw.startswith(_OFFICE):
        raise TableError(_UNREADABLE)
    text = _decoded(raw)
    if "\x00" in text:
        raise TableError(_("This is no table: it holds bytes that no text has. Send CSV or XLSX."))
    delimiter = _delimiter(text)
    lines = CountedLines(text, delimiter)
    reader = csv.reader(lines, delimiter=delimiter, strict=False)
    try:
        for cells in reader:
            lines.separators = 0
            yield reader.line_num, [shortened(cell.strip()) for cell in cells[: MOST_COLUMNS + 1]]
    except TooManySeparatorsError:
        raise TableError(_("The table has more than %(most)s columns: leave some out."), most=MOST_COLUMNS) from None
    except csv.Error as error:
        # It tells its errors apart by words alone.
        if "field limit" in str(error):
            raise TableError(
                _("A cell of line %(line)s has more than %(most)s KiB: shorten it."),
                line=reader.line_num,
                most=csv.field_size_limit() // 1024,
            ) from error
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


def _workbook(file: BinaryIO, file_name: str) -> Iterator[_Sheet]:
    # Heavy, and needed in workers only.
    from openpyxl import load_workbook

    _check_workbook(file, file_name)
    with _readable():
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    with closing(book):
        with _readable():
            sheets = list(book.worksheets)
            names = _named(str(sheet.title) for sheet in sheets)
        if not sheets:
            raise TableError(_UNREADABLE)
        if len(sheets) > MOST_SHEETS:
            text = _("The workbook has more than %(most)s sheets: save those to be imported as one of their own.")
            raise TableError(text, most=MOST_SHEETS)
        for name, sheet in zip(names, sheets, strict=True):
            yield _Sheet(name, sheet.sheet_state != "visible", _lines(sheet))


def _lines(sheet: Any) -> Iterator[Line]:
    blanks = 0
    with _readable():
        sheet.reset_dimensions()
        for number, cells in enumerate(sheet.iter_rows(max_col=MOST_COLUMNS + 1), start=1):
            row = [shown(cell) for cell in cells]
            blanks = blanks + 1 if all(cell is None for cell in row) else 0
            if blanks > MOST_BLANKS:
                return
            yield number, row


@contextmanager
def _readable() -> Iterator[None]:
    """Tell of what openpyxl raises for workbooks that are none; a parser's error in XML is a SyntaxError."""
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        yield
    except (
        InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, IndexError, TypeError, AttributeError,
        SyntaxError, EOFError, OSError, OverflowError,
    ) as error:  # fmt: skip
        raise TableError(_UNREADABLE) from error


def _check_workbook(file: BinaryIO, file_name: str) -> None:
    """Refuse a workbook that is a bomb, or whose XML declares things of its own."""
    file.seek(0)
    package = Package(file, file_name, _WORKBOOK)
    inspector = xml.Inspector()
    for name in package.names:
        try:
            with package.open(name) as part:
                inspector.look_through(name, part)
        except xml.UnsafeError as error:
            raise _unsafe(name) from error
        except xml.DamagedError as error:
            # Pictures are none, whatever their name; what has to be one is read no further.
            if name.endswith((".xml", ".rels")):
                raise TableError(_UNREADABLE) from error
        except DAMAGES as error:
            raise TableError(_UNREADABLE) from error
    try:
        inspector.check_texts()
    except xml.UnsafeError as error:
        raise _unsafe("xl/sharedStrings.xml") from error
    file.seek(0)


def _unsafe(name: str) -> ContainerError:
    text = _("%(name)s is not what office programs write: save the workbook again.")
    return ContainerError("unsafe", Message(text, {"name": name}))
