"""A document as PDF/A, set by a program of its own: neither its fonts nor its memory come into this process."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from apps.bench import strict_json
from apps.core import scratch
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
    walk,
)
from apps.reports.files import cells, figures, imprints, layout, typesetter
from apps.reports.files.base import Imprint, Progress

# Every cell takes some 10 kB of memory while it is set: this is what bounds it. Larger tables show their first rows.
MOST_CELLS = 150_000
# Tags, by which a report can be read to someone, make a cell 200 B on disk; beyond this a file is too large to mail.
TAGGED_CELLS = 40_000
# About how long things take on one core: what progress is told by.
SECONDS_PER_CELL, SECONDS_PER_FIGURE = 1e-4, 0.3
_LONGEST_WORD = 70


def render(document: Document, imprint: Imprint, output: Path, progress: Progress) -> None:
    """Write the PDF; RenderingError if a figure cannot be drawn or the program fails or takes too long."""
    with scratch.new_folder("report") as folder:
        count = sum(len(table.rows) * len(table.columns) for table in tables_of(document))
        share = _share_of_figures(document, count)
        files = figures.draw(document, "svg", folder, lambda done: progress(share * done))
        data = _Setting(document, imprint, files).data()
        (folder / "given.json").write_text(strict_json.dumps(data, ensure_ascii=False), encoding="utf-8")
        request = {
            "folder": str(folder),
            "output": str(output),
            "timestamp": int(imprint.at.timestamp()),
            "tagged": count <= TAGGED_CELLS,
        }
        typesetter.run(request, lambda done: progress(share + (1 - share) * done), SECONDS_PER_CELL * count)


def tables_of(document: Document) -> list[Table]:
    """Return the tables that are printed."""
    return [block for block in walk(document) if isinstance(block, Table)]


def _share_of_figures(document: Document, count: int) -> float:
    """Return which share of the work the figures are; the tables have `count` cells."""
    drawing_s = 1 + SECONDS_PER_FIGURE * len(figures.charts_of(document))
    return drawing_s / (drawing_s + 1 + SECONDS_PER_CELL * count)


class _Setting:
    """A document as the JSON that `program/report.typ` sets."""

    def __init__(self, document: Document, imprint: Imprint, files: dict[int, str]) -> None:
        """Keep what is to be set; `files` are the names of figures by id(block)."""
        self.document = document
        self.imprint = imprint
        self.files = files
        self.numbers = cells.numbers_of(document)
        self.cells_left = MOST_CELLS

    def data(self) -> dict[str, Any]:
        """Return the document as JSON values for the program that sets it."""
        document = self.document
        return {
            "title": document.title,
            "subtitle": document.subtitle,
            "language": document.language,
            "author": [value for label, value in document.meta[:1]],
            "keywords": [self.imprint.permanent_id] if self.imprint.permanent_id else [],
            "edition": imprints.edition_text(self.imprint),
            "meta": [
                (label, layout.breakable(text, _LONGEST_WORD))
                for label, text in (*document.meta, *imprints.lines_of(self.imprint))
            ],
            "words": {"summary": gettext("Summary"), "contents": gettext("Contents")},
            "summary": self._blocks(document.summary),
            "sections": [self._section(section) for section in document.sections],
        }

    def _section(self, section: Section) -> dict[str, Any]:
        return {
            "title": section.title,
            "blocks": self._blocks(section.blocks),
            "sections": [self._section(part) for part in section.sections],
        }

    def _blocks(self, blocks: Sequence[Block]) -> list[dict[str, Any]]:
        return [self._block(block, following) for block, following in zip_longest(blocks, blocks[1:])]

    def _block(self, block: Block, following: Block | None) -> dict[str, Any]:
        if isinstance(block, Paragraph):
            # A line over a list stays with it.
            leads = block.style == "body" and isinstance(following, Items)
            parts = self._parts(cells.parts_of(block))
            return {"type": "paragraph", "style": block.style, "leads": leads, "parts": parts}
        if isinstance(block, Items):
            items = [self._parts(parts) for parts in block.items]
            return {"type": "items", "ordered": block.ordered, "items": items}
        if isinstance(block, Table):
            layout_of_table = layout.table_of(block, self.numbers[id(block)], self.imprint, self.cells_left)
            self.cells_left = max(self.cells_left - len(layout_of_table["rows"]) * len(block.columns), 0)
            return layout_of_table
        if isinstance(block, Listing):
            return {"type": "listing", "text": block.text, "caption": block.caption, "name": block.name}
        return self._drawn(block)

    def _drawn(self, block: Figure | Drawing) -> dict[str, Any]:
        sentence = cells.sentence_of(block) if isinstance(block, Figure) else ""
        alternative = sentence if isinstance(block, Figure) else block.alternative
        return {
            "type": "drawn",
            "number": self.numbers[id(block)],
            "caption": block.caption,
            "file": self.files[id(block)],
            "alternative": alternative or block.caption,
            "sentence": sentence,
            "width": 92 if isinstance(block, Figure) else layout.share_of_page(block.svg),
        }

    def _parts(self, parts: Sequence[Part]) -> list[str | dict[str, str]]:
        return [self._part(part) for part in parts]

    def _part(self, part: Part) -> str | dict[str, str]:
        text = layout.breakable(part if isinstance(part, str) else part.text, _LONGEST_WORD)
        address = imprints.address_of(part.ref, self.imprint) if isinstance(part, TextLink) else ""
        return {"text": text, "url": address} if address else text
