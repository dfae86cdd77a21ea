"""What a report consists of, whatever it is rendered to: sections of paragraphs, tables, figures and listings.

All texts are plain (never markup) and in the document's language. Nothing here holds a row's number in this database:
a reference names a thing by its permanent id, so that a document says the same wherever its archive is read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

# What a cell holds: times are ISO 8601 texts of kind "time", so that a document is the same as its JSON.
Value = str | float | int | bool | None
Kind = Literal["text", "number", "time"]


@dataclass(frozen=True)
class Link:
    """A text that leads to a thing: `ref` is "campaign:ID", "trial:ID/EXPERIMENT/POSITION", "finding:ID/…", "view:…"
    with the permanent id of the campaign, or an address that begins with "https://"."""

    text: str
    ref: str


Part = str | Link


@dataclass(frozen=True)
class Paragraph:
    """Parts set one after the other; `key` names it where its author may replace its words."""

    parts: tuple[Part, ...]
    key: str = ""
    style: Literal["body", "remark", "warning", "statement"] = "body"


@dataclass(frozen=True)
class Items:
    """A list of short paragraphs."""

    items: tuple[tuple[Part, ...], ...]
    ordered: bool = False


@dataclass(frozen=True)
class Column:
    """A table's column. Numbers are in `unit`, the one that is shown ("Mbit/s"), with `digits` significant digits."""

    title: str
    unit: str = ""
    kind: Kind = "text"
    digits: int = 4


@dataclass(frozen=True)
class Table:
    """A numbered table. Cells stand in their column's kind and unit; a Link may stand for a text. None is not known.

    `total` is how many rows there are where `rows` holds only the first ones (0: all are here).
    """

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Value | Link]]
    note: str = ""
    total: int = 0


@dataclass(frozen=True)
class Figure:
    """A numbered figure: a chart's JSON (`apps.results.figures`), one sentence on what it shows, and its data."""

    key: str
    caption: str
    chart: dict[str, object]
    sentence: str = ""
    data: Table | None = None


@dataclass(frozen=True)
class Drawing:
    """A numbered figure that is drawn already: a complete SVG of ours, such as a topology, and what it shows."""

    key: str
    caption: str
    svg: str
    alternative: str = ""


@dataclass(frozen=True)
class Listing:
    """Text to be typed or installed as it stands, such as a file of kernel settings; `name` is the file's, if any."""

    text: str
    caption: str = ""
    name: str = ""


Block = Paragraph | Items | Table | Figure | Drawing | Listing


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it; `key` stays the same from edition to edition ("method", "experiment-2")."""

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    sections: tuple["Section", ...] = ()


@dataclass(frozen=True)
class Document:
    """A whole report. `meta` are (label, text) lines of its title page; `rests_on` what it was made from."""

    kind: Literal["campaign", "management"]
    title: str
    subtitle: str
    language: str
    sections: tuple[Section, ...]
    meta: tuple[tuple[str, str], ...] = ()
    rests_on: tuple[str, ...] = ()
    summary: tuple[Block, ...] = field(default=())


def joined(parts: Sequence[Part]) -> str:
    """Return the parts of a text as one, without where they lead."""
    return "".join(part.text if isinstance(part, Link) else part for part in parts)


def walk(document: Document) -> Iterator[Block]:
    """Return every block in reading order: figures and tables are numbered as they come."""
    yield from document.summary
    for section in document.sections:
        yield from _blocks(section)


def _blocks(section: Section) -> Iterator[Block]:
    yield from section.blocks
    for part in section.sections:
        yield from _blocks(part)
