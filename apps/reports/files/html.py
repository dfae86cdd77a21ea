"""A document as HTML: charts that answer, tables that scroll, numbers as in the other formats."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.bench import strict_json
from apps.reports.document import (
    Block,
    Document,
    Drawing,
    Figure,
    Items,
    Listing,
    Paragraph,
    Part,
    Section,
    Table,
    TextLink,
    joined,
)
from apps.reports.files import cells

# A page shows so many rows of a table, and so many cells, texts and links in all; the files have all.
MOST_ROWS, MOST_PARTS = 200, 60_000
# A block, or a section, takes a template of its own, and as long as so many of these.
BLOCK_PARTS = 20
_TEMPLATES = {
    Paragraph: "paragraph",
    Items: "items",
    Table: "table",
    Figure: "figure",
    Drawing: "drawing",
    Listing: "listing",
}


@dataclass(frozen=True)
class NumberedBlock:
    """A block with its number ("Figure 3") and, where they are texts, its parts as HTML."""

    block: Block
    number: str
    html: SafeString | str = ""
    items: Sequence[SafeString] = ()
    chart: str = ""
    left_out: int = 0
    is_edited: bool = False

    @property
    def template(self) -> str:
        """Return the template that shows it."""
        return f"reports/blocks/{_TEMPLATES[type(self.block)]}.html"

    @property
    def text(self) -> str:
        """Return the words of a paragraph or a figure, to be edited."""
        if isinstance(self.block, Figure):
            return self.block.sentence
        parts = self.block.parts if isinstance(self.block, Paragraph) else ()
        return joined(parts)


@dataclass(frozen=True)
class Chapter:
    """A section with its number ("2.1"), as the page shows it."""

    key: str
    title: str
    number: str
    level: int
    blocks: Sequence[NumberedBlock]
    parts: "Sequence[Chapter]"
    remark: str = ""

    @property
    def html_id(self) -> str:
        """Return the name that links within the page lead to."""
        return f"section-{self.key}"


@dataclass(frozen=True)
class Page:
    """A whole document as the page shows it."""

    document: Document
    summary: Sequence[NumberedBlock]
    sections: Sequence[Chapter]
    is_cut: bool = False


def render(document: Document) -> SafeString:
    """Return the document as a part of a page (`css/reports.css`, `components/chart_scripts.html`)."""
    return render_to_string("reports/_document.html", {"page": page_of(document)})


def page_of(document: Document, edits: Mapping[str, object] | None = None) -> Page:
    """Return the document as templates take it; with `edits` what its author changed is marked."""
    maker = _Maker(document, edits or {})
    summary = tuple(maker.blocks(document.summary))
    sections = tuple(maker.sections(document.sections, "", 2))
    return Page(document=document, summary=summary, sections=sections, is_cut=maker.room < 0)


class _Maker:
    """Makes what templates show, with numbers; once its `room` (cells, texts and links) is used up, nothing more."""

    def __init__(self, document: Document, edits: Mapping[str, object]) -> None:
        self.room = MOST_PARTS
        self._numbers = cells.numbers_of(document)
        words, remarks = edits.get("words"), edits.get("remarks")
        self._words: Mapping[str, object] = words if isinstance(words, Mapping) else {}
        self._remarks: Mapping[str, object] = remarks if isinstance(remarks, Mapping) else {}

    def sections(self, sections: Sequence[Section], before: str, level: int) -> Iterator[Chapter]:
        """Yield sections, numbered from 1."""
        for place, section in enumerate(sections, start=1):
            if not self._has_room(BLOCK_PARTS):
                return
            number = f"{before}{place}"
            yield Chapter(
                key=section.key,
                title=section.title,
                number=number,
                # HTML knows six levels of headings.
                level=min(level, 6),
                blocks=tuple(self.blocks(section.blocks)),
                parts=tuple(self.sections(section.sections, f"{number}.", level + 1)),
                remark=str(self._remarks.get(section.key, "")),
            )

    def blocks(self, blocks: Sequence[Block]) -> Iterator[NumberedBlock]:
        """Yield blocks with their numbers, and with what they say as HTML."""
        for block in blocks:
            if not self._has_room(BLOCK_PARTS + _parts_in(block)):
                return
            number = self._numbers.get(id(block), "")
            match block:
                case Paragraph():
                    yield NumberedBlock(block, number, html=parts_of(block.parts), is_edited=block.key in self._words)
                case Items():
                    yield NumberedBlock(block, number, items=tuple(map(parts_of, block.items)))
                case Table():
                    yield NumberedBlock(block, number, html=table_of(block), left_out=_left_out(block))
                case Figure():
                    chart = strict_json.dumps(block.chart, ensure_ascii=False)
                    yield NumberedBlock(block, number, chart=chart, is_edited=block.key in self._words)
                case Drawing():
                    yield NumberedBlock(block, number, html=_address_of(block))
                case _:
                    yield NumberedBlock(block, number)

    def _has_room(self, count: int) -> bool:
        # What comes behind a part that is left out is left out, too.
        self.room = self.room - count if 0 <= count <= self.room else -1
        return self.room >= 0


def _parts_in(block: Block) -> int:
    """Return how many cells, texts and links a block shows on a page."""
    match block:
        case Paragraph():
            return len(block.parts)
        case Items():
            return len(block.items) + sum(map(len, block.items))
        case Table():
            return len(block.columns) * (1 + min(len(block.rows), MOST_ROWS))
        case _:
            return 0


def parts_of(parts: Sequence[Part]) -> SafeString:
    """Return texts and links one after the other."""
    return format_html_join("", "{}", ((_part(part),) for part in parts))


def references_of(refs: Sequence[str]) -> list[SafeString | str]:
    """Return references as links."""
    return [_part(TextLink(ref, ref)) for ref in refs]


def table_of(table: Table) -> SafeString:
    """Return a table's head and first rows."""
    heads = format_html_join(
        "",
        '<th scope="col"{}>{}</th>',
        ((_end(column.kind == "number"), cells.head_of(column)) for column in table.columns),
    )
    ends = [_end(column.kind == "number") for column in table.columns]
    rows = format_html_join(
        "",
        "<tr>{}</tr>",
        (
            (
                format_html_join(
                    "",
                    "<td{}>{}</td>",
                    (
                        (end, _part(cell) if isinstance(cell, TextLink) else cells.text_of(cell, column))
                        for end, cell, column in zip(ends, row, table.columns, strict=True)
                    ),
                ),
            )
            for row in table.rows[:MOST_ROWS]
        ),
    )
    return format_html("<thead><tr>{}</tr></thead><tbody>{}</tbody>", heads, rows)


def _left_out(table: Table) -> int:
    """Return how many rows the page does not show."""
    return max(len(table.rows), table.total) - min(len(table.rows), MOST_ROWS)


def _end(is_number: bool) -> SafeString | str:
    return format_html(' class="{}"', "text-end") if is_number else ""


def _part(part: Part) -> SafeString | str:
    if not isinstance(part, TextLink):
        return part if isinstance(part, str) else part.text
    if part.ref.startswith("https://"):
        return format_html('<a href="{}" rel="noopener noreferrer">{}</a>', part.ref, part.text)
    # Where it leads is found when somebody follows it: a report may have thousands.
    try:
        address = reverse("reference", args=[part.ref])
    except NoReverseMatch:
        return part.text
    return format_html('<a href="{}">{}</a>', address, part.text)


def _address_of(drawing: Drawing) -> str:
    """Return a drawing as the address of a picture, in which no script of anybody's can run."""
    return "data:image/svg+xml;base64," + base64.b64encode(drawing.svg.encode()).decode()
