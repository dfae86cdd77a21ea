"""One slide at a time: a title, words, a picture or a table, and at the foot what deck it is."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from PIL import Image
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.oxml.ns import qn
from pptx.util import Emu, Inches, Pt

from apps.reports.document import Table
from apps.reports.files import cells
from apps.reports.files.slides.lines import SlideLine

ACCENT, CALM, INK = RGBColor(0x0B, 0x5A, 0x7A), RGBColor(0x56, 0x60, 0x6A), RGBColor(0x1D, 0x24, 0x2B)
# Fonts that programs for slides have; where one is missing they take another of the same script.
LATIN, KOREAN, FIXED = "Calibri", "Malgun Gothic", "Consolas"
TITLE_ONLY = 5
LEFT, WIDE = Inches(0.7), Inches(11.93)
# A table on a slide is read from far away.
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL, WIDEST_CELL = 12, 8, 80, 40
# Heads are bold.
_BOLD = 1.15
# At the size of its letters a slide is so many Latin letters wide, and has room for so many lines.
TABLE_WIDTH, TABLE_LINES = 135, 19
LONGEST_TITLE, LONGEST_SENTENCE = 140, 320
# Longer titles, and longer sentences below figures, are written smaller.
LARGE_TITLE, TWO_LINES = 60, 190
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Writer:
    """Writes slides into a presentation."""

    def __init__(self, presentation: Any, name: str, language: str) -> None:
        """Name what stands at the foot of every slide, and the language for those who check its spelling."""
        self._presentation = presentation
        self._name = name
        self._language = {"ko": "ko-KR"}.get(language, "en-GB")

    def title(self, title: str, subtitle: str, edition: str, lines: Sequence[str]) -> None:
        """Write the first slide."""
        slide = self._presentation.slides.add_slide(self._presentation.slide_layouts[TITLE_ONLY])
        bar = slide.shapes.add_shape(1, 0, 0, Inches(0.3), self._presentation.slide_height)
        bar.fill.solid()
        bar.fill.fore_color.rgb = ACCENT
        bar.line.fill.background()
        self._place(slide.shapes.title, Inches(0.9), Inches(1.6), Inches(11.5), Inches(1.7))
        self._set(slide.shapes.title.text_frame, _short(title, LONGEST_TITLE), 38, ACCENT, bold=True)
        slide.shapes.title.text_frame.vertical_anchor = MSO_ANCHOR.BOTTOM
        frame = self._box(slide, Inches(0.9), Inches(3.5), Inches(11.5), Inches(3.2))
        for place, (text, size, colour) in enumerate(
            [(subtitle, 22, INK), (edition, 16, CALM), *((line, 16, CALM) for line in lines)]
        ):
            self._add(frame, _short(text, LONGEST_SENTENCE), size, colour, first=not place)

    def words(self, title: str, lines: Sequence[SlideLine], over: str = "") -> None:
        """Write paragraphs and items."""
        slide = self._slide(title, over)
        frame = self._box(slide, LEFT, Inches(1.55), WIDE, Inches(5.2))
        for place, line in enumerate(lines):
            text = f"• {line.text}" if line.level == 1 else line.text
            paragraph = self._add(frame, text, 14 if line.level < 0 else 17, INK, first=not place)
            if line.level < 0:
                for run in paragraph.runs:
                    _font(run, FIXED, FIXED)
            paragraph.space_after = Pt(7)

    def picture(self, title: str, file: Path, sentence: str, alternative: str, over: str = "") -> None:
        """Write a figure, as large as there is room, with what it shows."""
        slide = self._slide(title, over)
        high = Inches(4.75 if sentence else 5.4)
        with Image.open(file) as image:
            across, down = image.size
        scale = min(WIDE / across, high / down)
        width, height = Emu(int(across * scale)), Emu(int(down * scale))
        left = Emu(int(LEFT + (WIDE - width) / 2))
        shape = slide.shapes.add_picture(str(file), left, Inches(1.45), width, height)
        shape._element.nvPicPr.cNvPr.set("descr", clean(alternative))
        if sentence:
            frame = self._box(slide, LEFT, Inches(6.2), WIDE, Inches(0.75))
            size = 16 if cells.width(sentence) <= TWO_LINES else 13
            self._add(frame, _short(sentence, LONGEST_SENTENCE), size, INK, first=True)

    def table(self, title: str, table: Table, over: str = "") -> None:
        """Write the first rows and columns of a table, and how much more there is."""
        slide = self._slide(title, over)
        # A column in which nothing stands tells nobody anything.
        columns_with_cells = [
            place for place in range(len(table.columns)) if any(row[place] is not None for row in table.rows)
        ]
        places = columns_with_cells[:MOST_COLUMNS]
        columns = [table.columns[place] for place in places]
        texts = [[_cell(row, place, table) for place in places] for row in table.rows[:MOST_ROWS]]
        heads = [cells.head_of(column) for column in columns]
        widths = [
            min(
                max(
                    *(_BOLD * cells.width(word) for word in head.split()), *(cells.width(row[place]) for row in texts)
                ),
                WIDEST_CELL,
            )
            + 3
            for place, head in enumerate(heads)
        ]
        rows = _fitting(heads, texts, widths)
        height = Inches(0.36 * (len(rows) + 1))
        shape = slide.shapes.add_table(len(rows) + 1, len(columns), LEFT, Inches(1.55), WIDE, height)
        for place, (column, width) in enumerate(zip(columns, widths, strict=True)):
            shape.table.columns[place].width = Emu(int(WIDE * width / sum(widths)))
            for at, text in enumerate([heads[place], *(row[place] for row in rows)]):
                frame = shape.table.cell(at, place).text_frame
                colour = RGBColor(0xFF, 0xFF, 0xFF) if not at else INK
                paragraph = self._add(frame, text, 12, colour, first=True, bold=not at)
                paragraph.alignment = PP_ALIGN.RIGHT if column.kind == "number" else PP_ALIGN.LEFT
                if not at:
                    shape.table.cell(at, place).fill.solid()
                    shape.table.cell(at, place).fill.fore_color.rgb = ACCENT
        more = max(table.total, len(table.rows)) - len(rows)
        if more or len(columns_with_cells) > len(places):
            frame = self._box(slide, LEFT, Inches(6.45), WIDE, Inches(0.45))
            self._add(frame, _("The report has the whole table."), 13, CALM, first=True)

    def _slide(self, title: str, over: str) -> Any:
        slide = self._presentation.slides.add_slide(self._presentation.slide_layouts[TITLE_ONLY])
        self._place(slide.shapes.title, LEFT, Inches(0.55), WIDE, Inches(0.9))
        frame = slide.shapes.title.text_frame
        size = 26 if cells.width(title) <= LARGE_TITLE else 20
        self._set(frame, _short(title, LONGEST_TITLE), size, ACCENT, bold=True)
        frame.vertical_anchor = MSO_ANCHOR.MIDDLE
        if over and over != title:
            self._add(self._box(slide, LEFT, Inches(0.25), WIDE, Inches(0.35)), over, 12, CALM, first=True)
        foot = self._box(slide, LEFT, Inches(7.0), WIDE, Inches(0.35))
        number = len(self._presentation.slides)
        self._add(foot, f"{_short(self._name, 100)} · {number}", 10, CALM, first=True)
        return slide

    def _box(self, slide: Any, left: Any, top: Any, width: Any, height: Any) -> Any:
        frame = slide.shapes.add_textbox(left, top, width, height).text_frame
        frame.word_wrap = True
        return frame

    def _place(self, shape: Any, left: Any, top: Any, width: Any, height: Any) -> None:
        shape.left, shape.top, shape.width, shape.height = left, top, width, height

    def _set(self, frame: Any, text: str, size: int, colour: Any, *, bold: bool) -> None:
        frame.word_wrap = True
        self._add(frame, text, size, colour, first=True, bold=bold).alignment = PP_ALIGN.LEFT

    def _add(self, frame: Any, text: str, size: int, colour: Any, *, first: bool = False, bold: bool = False) -> Any:
        paragraph = frame.paragraphs[0] if first else frame.add_paragraph()
        for place, part in enumerate(clean(text).split("\n")):
            if place:
                paragraph.add_line_break()
            run = paragraph.add_run()
            run.text = part
            run.font.size, run.font.bold, run.font.color.rgb = Pt(size), bold, colour
            _font(run, LATIN, KOREAN)
            run._r.get_or_add_rPr().set("lang", self._language)
        return paragraph


def _font(run: Any, latin: str, korean: str) -> None:
    """Give a run its fonts: one for Latin letters, one for Korean."""
    run.font.name = latin
    properties = run._r.get_or_add_rPr()
    for old in properties.findall(qn("a:ea")):
        properties.remove(old)
    element = properties.makeelement(qn("a:ea"), {"typeface": korean})
    properties.find(qn("a:latin")).addnext(element)


def _fitting(heads: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[float]) -> Sequence[Sequence[str]]:
    """Return as many rows as a slide has room for, with their cells wrapped."""
    room = [TABLE_WIDTH * width / sum(widths) - 3 for width in widths]
    lines_used = 0.0
    fitting: list[Sequence[str]] = []
    for row in (heads, *rows):
        lines_used += (
            max(math.ceil(cells.width(text) / maximum) for text, maximum in zip(row, room, strict=True)) + 0.6
        )
        if lines_used > TABLE_LINES and len(fitting) > 1:
            break
        fitting.append(row)
    return fitting[1:]


def _cell(row: Sequence[Any], place: int, table: Table) -> str:
    return _short(cells.text_of(row[place], table.columns[place]), LONGEST_CELL)


def _short(text: str, maximum: int) -> str:
    return text if len(text) <= maximum else f"{text[: maximum - 1].rstrip()}…"


def clean(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return _NOT_IN_XML.sub("", text)
