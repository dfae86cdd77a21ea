"""What a report consists of, whatever it is rendered to: sections of paragraphs, tables, figures and listings.

All texts are plain (never markup) and in the document's language. Nothing here holds a row's number in this database:
a reference names a thing by its permanent id, so that a document says the same wherever its archive is read.
A block that rests on what its own team alone reads (what agents told, clusters and notes of the inventory) is marked
where it is made: `others` is what readers of other teams get in its place, () nothing; None is the block itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

# What a cell holds: times are ISO 8601 texts of kind "time", so that a document is the same as its JSON.
Value = str | float | int | bool | None
Kind = Literal["text", "number", "time"]


@dataclass(frozen=True)
class Topic:
    """Which figures a sentence speaks of: column `of` of the table of that key, its rows named by the columns `by`.

    `rows` are (column, text) that the rows have; columns are counted from 0. `unit` is the base unit of the figures,
    `metric` and `axis` are the words for them, `better` is "higher", "lower" or "" for no direction.
    """

    table: str
    of: int = 0
    by: tuple[int, ...] = ()
    rows: tuple[tuple[int, str], ...] = ()
    unit: str = ""
    metric: str = ""
    axis: str = ""
    better: str = ""


@dataclass(frozen=True)
class Claim:
    """What a sentence claims of its topic: a relation (`apps.reports.claims`), and what it says by name."""

    relation: str
    topic: Topic
    says: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Sentence:
    """A sentence that the service wrote, with what it claims, so that the document's tables can be asked again."""

    text: str
    claim: Claim


@dataclass(frozen=True)
class TextLink:
    """A text that leads to a thing: `ref` is "campaign:ID", "trial:ID/EXPERIMENT/POSITION", "finding:ID/…", "view:…"
    with the permanent id of the campaign, or an address that begins with "https://"; `claim` what a title claims."""

    text: str
    ref: str
    claim: Claim | None = None


Part = str | TextLink | Sentence


@dataclass(frozen=True)
class Paragraph:
    """Parts set one after the other; `key` names it where its author may replace its words.

    Words that the author typed (`is_authors`) claim nothing that the service could check.
    """

    parts: tuple[Part, ...]
    key: str = ""
    style: Literal["body", "remark", "warning", "statement"] = "body"
    is_authors: bool = False
    others: tuple["Block", ...] | None = None


@dataclass(frozen=True)
class Items:
    """A list of short paragraphs."""

    items: tuple[tuple[Part, ...], ...]
    ordered: bool = False
    others: tuple["Block", ...] | None = None


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

    `total` is how many rows there are where `rows` holds only the first ones (0: all are here). `figures` holds, by
    column, what stands behind its cells: the single figures of each row, or the number of a place ("64 KiB": 65536).
    """

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Value | TextLink]]
    note: str = ""
    total: int = 0
    figures: Mapping[str, Sequence[Sequence[float]]] | None = None
    others: tuple["Block", ...] | None = None


@dataclass(frozen=True)
class Figure:
    """A numbered figure: a chart's JSON (`apps.comparison.figures`), what it shows, and its data.

    `sentence` is what is read; `says` are the sentences that it consists of, none where its author wrote it.
    """

    key: str
    caption: str
    chart: dict[str, object]
    sentence: str = ""
    data: Table | None = None
    says: tuple[Sentence, ...] = ()
    is_authors: bool = False
    others: tuple["Block", ...] | None = None


@dataclass(frozen=True)
class Drawing:
    """A numbered figure that is drawn already: a complete SVG of ours, such as a topology, and what it shows."""

    key: str
    caption: str
    svg: str
    alternative: str = ""
    others: tuple["Block", ...] | None = None


@dataclass(frozen=True)
class Listing:
    """Text to be typed or installed as it stands, such as a file of kernel settings; `name` is the file's, if any."""

    text: str
    caption: str = ""
    name: str = ""
    others: tuple["Block", ...] | None = None


Block = Paragraph | Items | Table | Figure | Drawing | Listing


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it; `key` stays the same from edition to edition ("method", "experiment-2").

    `claim` is what a heading claims that is the title of a finding.
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    sections: tuple["Section", ...] = ()
    claim: Claim | None = None


@dataclass(frozen=True)
class Document:
    """A whole report. `meta` are (label, text) lines of its title page; `rests_on` what it was made from.

    What was frozen before blocks were marked is not `is_marked`.
    """

    kind: Literal["campaign", "management"]
    title: str
    subtitle: str
    language: str
    sections: tuple[Section, ...]
    meta: tuple[tuple[str, str], ...] = ()
    rests_on: tuple[str, ...] = ()
    summary: tuple[Block, ...] = field(default=())
    is_marked: bool = False


def others_read(own: Sequence[Block], others: Sequence[Block]) -> list[Block]:
    """Return blocks with the mark that readers of other teams get the others in their place, if these differ."""
    if list(own) == list(others) or not own:
        return list(own)
    return [replace(own[0], others=tuple(others)), *(replace(block, others=()) for block in own[1:])]


def spaced(sentences: Sequence[Sentence]) -> tuple[Part, ...]:
    """Return sentences as parts of one text, a blank between them."""
    return tuple(part for sentence in sentences for part in (" ", sentence))[1:]


def joined(parts: Sequence[Part]) -> str:
    """Return the parts of a text as one, without where they lead."""
    return "".join(part if isinstance(part, str) else part.text for part in parts)


def walk(document: Document) -> Iterator[Block]:
    """Return every block in reading order: figures and tables are numbered as they come."""
    yield from document.summary
    for section in document.sections:
        yield from _blocks(section)


def _blocks(section: Section) -> Iterator[Block]:
    yield from section.blocks
    for part in section.sections:
        yield from _blocks(part)
