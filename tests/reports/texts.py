"""What stands in a report, as texts, in each of its formats."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import openpyxl
from pptx import Presentation

from apps.reports import serialisation
from apps.reports.document import Document, Items, Listing, Paragraph, Section, joined, walk
from apps.reports.files import html, pdf
from apps.reports.files.formats import FORMATS
from tests.reports.files.test_pdf import IMPRINT


def section_of(document: Document, key: str) -> Section:
    return next(section for section in document.sections if section.key == key)


def lines_of(blocks: object) -> list[str]:
    """Return the words of paragraphs and items, one by one."""
    found: list[str] = []
    for block in blocks:
        if isinstance(block, Paragraph):
            found.append(joined(block.parts))
        elif isinstance(block, Items):
            found += [joined(parts) for parts in block.items]
    return found


def texts_of(document: Document, folder: Path) -> dict[str, str]:
    """Return the words of a document's findings in each format that has words, blanks as single ones."""
    told = replace(document, summary=(), sections=(section_of(document, "findings"),))
    found = {"html": unescape(re.sub(r"<[^>]+>", " ", str(html.render(told))))}
    for name, read in READERS.items():
        FORMATS[name].load()(told, IMPRINT, folder / f"report.{name}", lambda _share: None)
        found[name] = read(folder / f"report.{name}")
    found["pdf"] = " ".join(texts_in(pdf._Setting(told, IMPRINT, {}).data()))
    return {name: re.sub(r"\s+", " ", words) for name, words in found.items()}


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts that the program which sets a PDF is given, those of one paragraph as one."""
    if isinstance(value, dict) and value.get("type") == "paragraph":
        yield _joined(value["parts"])
    elif isinstance(value, dict) and value.get("type") == "items":
        yield from map(_joined, value["items"])
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)
    elif isinstance(value, str):
        yield value


def _joined(parts: list[object]) -> str:
    return "".join(part if isinstance(part, str) else part["text"] for part in parts)


def slides_of(path: Path) -> str:
    """Return the words of slides."""
    shapes = [shape for slide in Presentation(str(path)).slides for shape in slide.shapes]
    return " ".join(shape.text_frame.text for shape in shapes if shape.has_text_frame)


def cells_of(path: Path) -> str:
    """Return the words of the first sheet, which has all that is no table."""
    sheet = openpyxl.load_workbook(path, read_only=True).worksheets[0]
    return " ".join(str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell is not None)


def words_of(path: Path) -> str:
    """Return the words of a document's JSON."""
    blocks = list(walk(serialisation.from_text(path.read_text(encoding="utf-8"))))
    return " ".join([*lines_of(blocks), *(block.text for block in blocks if isinstance(block, Listing))])


READERS = {"pptx": slides_of, "xlsx": cells_of, "json": words_of}
