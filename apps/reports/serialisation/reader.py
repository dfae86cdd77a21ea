"""A document from its JSON; DocumentError names the place that is not as it should be."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

from django.utils.translation import gettext

from apps.reports.document import (
    Block,
    Column,
    Document,
    Drawing,
    Figure,
    Items,
    Kind,
    Listing,
    Paragraph,
    Part,
    Section,
    Sentence,
    Table,
    TextLink,
)
from apps.reports.serialisation import claimed
from apps.reports.serialisation.values import DocumentError, Json, choice, items, mapping, pair, string, text, whole

FORMAT = 1
# Deeper than this no report is divided.
DEEPEST = 8
# No float has more digits that count.
MOST_DIGITS = 17


def from_text(document_text: str) -> Document:
    """Return the document of a JSON text; DocumentError if it is none."""
    try:
        data = json.loads(document_text)
    except (ValueError, RecursionError) as error:
        raise DocumentError("document", gettext("this is not JSON.")) from error
    return from_json(data)


def from_json(data: object) -> Document:
    """Return the document of JSON values; DocumentError names the place that is not as it should be."""
    document = mapping(data, "document")
    if document.get("format") != FORMAT:
        raise DocumentError("format", gettext("this version of the format is not known here."))
    kind = choice(document, "kind", ("campaign", "management"), "")
    return Document(
        kind=kind,
        title=text(document, "title", ""),
        subtitle=text(document, "subtitle", ""),
        language=text(document, "language", ""),
        sections=_sections(document, "", 0),
        meta=tuple(pair(item, place) for place, item in items(document, "meta", "")),
        rests_on=tuple(string(item, place) for place, item in items(document, "rests_on", "")),
        summary=_blocks(document, "summary", ""),
        is_marked=document.get("is_marked") is True,
    )


def _sections(data: Json, place: str, depth: int) -> tuple[Section, ...]:
    if depth > DEEPEST:
        raise DocumentError(place, gettext("this is nested too deeply."))
    return tuple(
        Section(
            key=text(section, "key", at),
            title=text(section, "title", at),
            blocks=_blocks(section, "blocks", at),
            sections=_sections(section, at, depth + 1),
            claim=claimed.claim_of(section, at),
        )
        for at, item in items(data, "sections", place)
        for section in [mapping(item, at)]
    )


def _blocks(data: Json, name: str, place: str) -> tuple[Block, ...]:
    return tuple(_block(item, at) for at, item in items(data, name, place))


def _block(value: object, place: str) -> Block:
    data = mapping(value, place)
    block = _unmarked(data, place)
    if "others" not in data:
        return block
    others = tuple(_unmarked(mapping(item, at), at) for at, item in items(data, "others", place))
    return replace(block, others=others)


def _unmarked(data: Json, place: str) -> Block:
    kind = choice(data, "type", tuple(_READERS), place)
    return _READERS[kind](data, place)


def _paragraph(data: Json, place: str) -> Block:
    styles = ("body", "remark", "warning", "statement")
    style: Any = choice(data, "style", styles, place) if "style" in data else "body"
    return Paragraph(
        parts=_parts(data, "parts", place),
        key=text(data, "key", place),
        style=style,
        is_authors=data.get("is_authors") is True,
    )


def _list(data: Json, place: str) -> Block:
    lines = tuple(_parts({"item": item}, "item", at) for at, item in items(data, "items", place))
    return Items(items=lines, ordered=data.get("ordered") is True)


def _table(data: Json, place: str) -> Table:
    columns = tuple(_column(item, at) for at, item in items(data, "columns", place))
    rows = []
    for at, row in items(data, "rows", place):
        if not isinstance(row, list) or len(row) != len(columns):
            raise DocumentError(at, gettext("a row has one cell for each column."))
        rows.append(tuple(_cell(cell, at) for cell in row))
    return Table(
        key=text(data, "key", place),
        caption=text(data, "caption", place),
        columns=columns,
        rows=tuple(rows),
        note=text(data, "note", place),
        total=whole(data, "total", 0, place),
        figures=claimed.figures_of(data, len(rows), place) if "figures" in data else None,
    )


def _column(value: object, place: str) -> Column:
    data = mapping(value, place)
    kind: Any = choice(data, "kind", get_args(Kind), place) if "kind" in data else "text"
    title, unit = text(data, "title", place), text(data, "unit", place)
    digits = whole(data, "digits", 4, place)
    if digits > MOST_DIGITS:
        raise DocumentError(f"{place}.digits", gettext("this is more than any figure has."))
    return Column(title=title, unit=unit, kind=kind, digits=digits)


def _figure(data: Json, place: str) -> Block:
    chart = mapping(data.get("chart"), f"{place}.chart")
    table = data.get("data")
    return Figure(
        key=text(data, "key", place),
        caption=text(data, "caption", place),
        chart=chart,
        sentence=text(data, "sentence", place),
        data=_table(mapping(table, f"{place}.data"), f"{place}.data") if table is not None else None,
        says=tuple(claimed.sentence_of(mapping(item, at), at) for at, item in items(data, "says", place)),
        is_authors=data.get("is_authors") is True,
    )


def _drawing(data: Json, place: str) -> Block:
    key, caption, svg, alternative = (text(data, name, place) for name in ("key", "caption", "svg", "alternative"))
    return Drawing(key, caption, svg, alternative)


def _listing(data: Json, place: str) -> Block:
    return Listing(text(data, "text", place), text(data, "caption", place), text(data, "name", place))


_READERS: dict[str, Callable[[Json, str], Block]] = {
    "paragraph": _paragraph,
    "items": _list,
    "table": _table,
    "figure": _figure,
    "drawing": _drawing,
    "listing": _listing,
}


def _parts(data: Json, name: str, place: str) -> tuple[Part, ...]:
    return tuple(item if isinstance(item, str) else _part(item, at) for at, item in items(data, name, place))


def _part(value: object, place: str) -> TextLink | Sentence:
    data = mapping(value, place)
    return claimed.sentence_of(data, place) if "claim" in data and "ref" not in data else _link(data, place)


def _cell(value: object, place: str) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    return _link(value, place)


def _link(value: object, place: str) -> TextLink:
    data = mapping(value, place)
    return TextLink(text=text(data, "text", place), ref=text(data, "ref", place), claim=claimed.claim_of(data, place))
