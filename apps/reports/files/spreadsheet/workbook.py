"""The workbook: which sheets there are, and what stands in those of words and tables."""

import math
import textwrap
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from apps.core import scratch
from apps.reports.document import (
    Column,
    Document,
    Drawing,
    Figure,
    Items,
    Listing,
    Paragraph,
    Table,
    TextLink,
    Value,
    joined,
    walk,
)
from apps.reports.files import cells, figures, imprints
from apps.reports.files.base import Imprint, Progress
from apps.reports.files.spreadsheet import charts
from apps.reports.files.spreadsheet.styles import ACCENT, DATE, Styles, number_format

# What the format itself can hold.
MOST_ROWS = 1_000_000
LONGEST_TEXT = 32_000
# So many letters of a note stand in a row.
NOTE_LETTERS = 110
# Nothing typed becomes a formula, a link or a number: what is a text stays one.
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "remove_timezone": True,
}
_WIDEST, _NARROWEST, _TEXT_WIDTH = 48, 8, 100
_LINE_PT, _HIGHEST_PT = 15, 400
# A column's width and format are chosen by so many of its rows.
_LOOKED_AT = 2_000


def render(document: Document, imprint: Imprint, output: Path, progress: Progress) -> None:
    """Write the XLSX."""
    with scratch.new_folder("sheets") as folder:
        pictures = figures.drawings_as_png(document, folder)
        with Workbook(str(output), {**_OPTIONS, "tmpdir": str(folder)}) as book:
            _Book(book, document, imprint).write(pictures, progress)


class _Book:
    """One workbook on its way."""

    def __init__(self, book: Workbook, document: Document, imprint: Imprint) -> None:
        self.book = book
        self.document = document
        self.imprint = imprint
        self.styles = Styles(book)
        self.numbers = cells.numbers_of(document)

    def write(self, pictures: dict[int, Path], progress: Progress) -> None:
        moment = self.imprint.at.astimezone(UTC).replace(tzinfo=None)
        self.book.set_properties(
            {"title": self.document.title, "subject": self.document.subtitle, "created": moment, "comments": ""}
        )
        self._words(self._sheet(_("Report")))
        blocks = [block for block in walk(self.document) if id(block) in self.numbers]
        for place, block in enumerate(blocks, start=1):
            sheet = self._sheet(self.numbers[id(block)])
            if isinstance(block, Table):
                self._table(sheet, block)
            elif isinstance(block, Figure):
                self._head(sheet, block.caption, [cells.sentence_of(block)])
                charts.write(self.book, sheet, self.styles, block.chart, block.caption)
            elif isinstance(block, Drawing):
                self._head(sheet, block.caption, [])
                sheet.insert_image(3, 0, str(pictures[id(block)]), {"description": block.alternative or block.caption,
                                                                    "x_scale": 0.5, "y_scale": 0.5})  # fmt: skip
            progress(place / len(blocks))

    def _sheet(self, name: str) -> Worksheet:
        sheet = self.book.add_worksheet(name)
        sheet.hide_gridlines(2)
        # On paper: A4, turned, as wide as the page.
        sheet.set_paper(9)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        sheet.set_footer("&C&P / &N")
        return sheet

    def _words(self, sheet: Worksheet) -> None:
        """Write the first sheet: the title page, what the other sheets hold, and the report's words."""
        sheet.set_column(0, 0, 24)
        sheet.set_column(1, 1, _TEXT_WIDTH)
        row = self._head(sheet, self.document.title, [self.document.subtitle, imprints.edition_text(self.imprint)])
        for label, text in (*self.document.meta, *imprints.lines_of(self.imprint)):
            self._line(sheet, row, label, text, self.styles.note())
            row += 1
        row += 1
        for name, block in self._sheets():
            sheet.write_url(row, 0, f"internal:'{name}'!A1", string=name)
            _text(sheet, row, 1, block.caption, self.styles.words())
            row += 1
        row += 1
        for heading, texts in self._texts():
            _text(sheet, row, 0, heading, self.styles.of(bold=True, font_color=ACCENT))
            row += 1
            for text in texts:
                self._line(sheet, row, "", text, self.styles.words())
                row += 1

    def _line(self, sheet: Worksheet, row: int, label: str, text: str, style: Any) -> None:
        """Write a label and a text beside it, in a row that is high enough for it."""
        lines = sum(max(math.ceil(cells.width(line) / _TEXT_WIDTH), 1) for line in text.split("\n"))
        sheet.set_row(row, min(_LINE_PT * lines, _HIGHEST_PT))
        if label:
            _text(sheet, row, 0, label, style)
        _text(sheet, row, 1, text, self.styles.words())

    def _sheets(self) -> list[tuple[str, Table | Figure | Drawing]]:
        blocks = (block for block in walk(self.document) if isinstance(block, Table | Figure | Drawing))
        return [(self.numbers[id(block)], block) for block in blocks]

    def _texts(self) -> list[tuple[str, list[str]]]:
        """Return (heading, texts) of the summary and of every section, without what has a sheet of its own."""
        texts = [(_("Summary"), _said(self.document.summary))] if self.document.summary else []
        sections = list(reversed(self.document.sections))
        while sections:
            section = sections.pop()
            texts.append((section.title, _said(section.blocks)))
            sections += reversed(section.sections)
        return texts

    def _head(self, sheet: Worksheet, title: str, lines: Sequence[str]) -> int:
        """Write a title and what stands below it; return the row after a blank one."""
        sheet.write_string(0, 0, title[:LONGEST_TEXT], self.styles.title())
        # A sheet is printed as wide as what stands on it: a note must not make its table small.
        lines_wrapped = [part for line in lines for part in textwrap.wrap(line[:LONGEST_TEXT], NOTE_LETTERS)]
        for row, line in enumerate(lines_wrapped, start=1):
            sheet.write_string(row, 0, line, self.styles.note())
        return len(lines_wrapped) + 2

    def _table(self, sheet: Worksheet, table: Table) -> None:
        rows = table.rows[:MOST_ROWS]
        notes = [table.note, cells.more_rows(table)]
        top = self._head(sheet, table.caption, notes)
        lines = 1
        for place, column in enumerate(table.columns):
            sample = [row[place] for row in rows[:_LOOKED_AT]]
            width = _width(column, sample)
            sheet.set_column(place, place, width, self._format(column, sample))
            lines = max(lines, math.ceil(1.3 * cells.width(_head_of(column)) / width))
        sheet.set_row(top, _LINE_PT * lines)
        for place, column in enumerate(table.columns):
            sheet.write_string(top, place, _head_of(column), self.styles.head(column.kind))
        for at, row in enumerate(rows, start=top + 1):
            for place, (value, column) in enumerate(zip(row, table.columns, strict=True)):
                self._cell(sheet, at, place, value, column)
        sheet.freeze_panes(top + 1, 0)
        sheet.repeat_rows(top)
        if rows and table.columns:
            sheet.autofilter(top, 0, top + len(rows), len(table.columns) - 1)

    def _format(self, column: Column, sample: Sequence[Value | TextLink]) -> Any:
        if column.kind == "time":
            return self.styles.of(num_format=DATE, align="left", indent=1)
        numbers = [value for value in sample if isinstance(value, int | float) and not isinstance(value, bool)]
        return (
            self.styles.of(num_format=number_format(numbers, column.digits))
            if numbers
            else self.styles.of(valign="top", align="left", indent=1)
        )

    def _cell(self, sheet: Worksheet, row: int, place: int, value: Value | TextLink, column: Column) -> None:
        if value is None or (isinstance(value, float) and cells.number(value) == cells.UNKNOWN):
            return
        if isinstance(value, bool):
            sheet.write_boolean(row, place, value)
        elif isinstance(value, int | float):
            sheet.write_number(row, place, value)
        else:
            text = value.text if isinstance(value, TextLink) else value
            moment = cells.moment_of(text) if column.kind == "time" else None
            if moment is None:
                _text(sheet, row, place, text, None)
            else:
                sheet.write_datetime(row, place, moment.astimezone(UTC))


def _text(sheet: Worksheet, row: int, place: int, text: str, style: Any) -> None:
    sheet.write_string(row, place, text[:LONGEST_TEXT], style)


def _head_of(column: Column) -> str:
    return f"{column.title} (UTC)" if column.kind == "time" else cells.head_of(column)


def _width(column: Column, sample: Sequence[Value | TextLink]) -> float:
    if column.kind == "time":
        return 17
    texts = [max(_head_of(column).split(), key=len, default=""), *(cells.text_of(value, column) for value in sample)]
    return min(max(_NARROWEST, *(1.1 * cells.width(text) + 2 for text in texts)), _WIDEST)


def _said(blocks: Sequence[object]) -> list[str]:
    """Return the paragraphs, items and listings among some blocks as texts."""
    texts = []
    for block in blocks:
        if isinstance(block, Paragraph):
            texts.append(joined(cells.parts_of(block)))
        elif isinstance(block, Items):
            texts += [f"• {joined(item)}" for item in block.items]
        elif isinstance(block, Listing):
            texts.append("\n".join(part for part in (block.caption, block.name, block.text.rstrip("\n")) if part))
    return texts
