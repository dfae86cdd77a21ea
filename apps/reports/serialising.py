"""A document as JSON and back; the canonical form is one text for one content, of which an edition has a checksum."""

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import fields
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
    Link,
    Listing,
    Paragraph,
    Section,
    Table,
)

Json = dict[str, Any]

FORMAT = 1
# Deeper than this no report is divided.
DEEPEST = 8
# No float has more digits that count.
MOST_DIGITS = 17
_BLOCKS: dict[str, type] = {
    "paragraph": Paragraph,
    "items": Items,
    "table": Table,
    "figure": Figure,
    "drawing": Drawing,
    "listing": Listing,
}
_NAMES = {kind: name for name, kind in _BLOCKS.items()}


class DocumentError(ValueError):
    """The JSON is no document; `place` names the part, e.g. "sections[2].blocks[0].rows"."""

    def __init__(self, place: str, problem: str) -> None:
        """Keep the place and what is wrong there."""
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem


def as_json(document: Document) -> Json:
    """Return the document as plain JSON values, without the members that are as they usually are."""
    return {"format": FORMAT, **_plain(document)}


def canonical(data: Json) -> str:
    """Return the one text of a content: names sorted, no blanks, whole numbers without a point, no NaN."""
    return json.dumps(_settled(data), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def checksum(text: str) -> str:
    """Return the SHA-256 of a canonical text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def from_text(text: str) -> Document:
    """Return the document of a JSON text; DocumentError if it is none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError("document", gettext("this is not JSON.")) from error
    return from_json(data)


def from_json(data: object) -> Document:
    """Return the document of JSON values; DocumentError names the place that is not as it should be."""
    found = _mapping(data, "document")
    if found.get("format") != FORMAT:
        raise DocumentError("format", gettext("this version of the format is not known here."))
    kind = _choice(found, "kind", ("campaign", "management"), "")
    return Document(
        kind=kind,
        title=_text(found, "title", ""),
        subtitle=_text(found, "subtitle", ""),
        language=_text(found, "language", ""),
        sections=_sections(found, "", 0),
        meta=tuple(_pair(item, place) for place, item in _items(found, "meta", "")),
        rests_on=tuple(_string(item, place) for place, item in _items(found, "rests_on", "")),
        summary=_blocks(found, "summary", ""),
    )


def _plain(value: Any) -> Any:
    """Return a part of a document as JSON values."""
    if isinstance(value, Document | Section | Column | Link) or type(value) in _NAMES:
        named = {"type": _NAMES[type(value)]} if type(value) in _NAMES else {}
        shown = ((item, getattr(value, item.name)) for item in fields(value))
        return named | {item.name: _plain(found) for item, found in shown if found != item.default or not named}
    if isinstance(value, str):
        # No database keeps it and no reader sees it.
        return value.replace("\x00", "")
    if isinstance(value, dict):
        return {str(name): _plain(found) for name, found in value.items()}
    if isinstance(value, Sequence):
        return [_plain(found) for found in value]
    return value


def _settled(value: Any) -> Any:
    """Return JSON values with each number in one form; what is no number is not known."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {name: _settled(found) for name, found in value.items()}
    return [_settled(found) for found in value] if isinstance(value, list) else value


def _sections(data: Json, place: str, depth: int) -> tuple[Section, ...]:
    if depth > DEEPEST:
        raise DocumentError(place, gettext("this is nested too deeply."))
    return tuple(
        Section(
            key=_text(found, "key", at),
            title=_text(found, "title", at),
            blocks=_blocks(found, "blocks", at),
            sections=_sections(found, at, depth + 1),
        )
        for at, item in _items(data, "sections", place)
        for found in [_mapping(item, at)]
    )


def _blocks(data: Json, name: str, place: str) -> tuple[Block, ...]:
    return tuple(_block(item, at) for at, item in _items(data, name, place))


def _block(value: object, place: str) -> Block:
    data = _mapping(value, place)
    kind = _choice(data, "type", tuple(_READERS), place)
    return _READERS[kind](data, place)


def _paragraph(data: Json, place: str) -> Block:
    styles = ("body", "remark", "warning", "statement")
    style: Any = _choice(data, "style", styles, place) if "style" in data else "body"
    return Paragraph(parts=_parts(data, "parts", place), key=_text(data, "key", place), style=style)


def _list(data: Json, place: str) -> Block:
    items = tuple(_parts({"item": item}, "item", at) for at, item in _items(data, "items", place))
    return Items(items=items, ordered=data.get("ordered") is True)


def _table(data: Json, place: str) -> Table:
    columns = tuple(_column(item, at) for at, item in _items(data, "columns", place))
    rows = []
    for at, row in _items(data, "rows", place):
        if not isinstance(row, list) or len(row) != len(columns):
            raise DocumentError(at, gettext("a row has one cell for each column."))
        rows.append(tuple(_cell(cell, at) for cell in row))
    return Table(
        key=_text(data, "key", place),
        caption=_text(data, "caption", place),
        columns=columns,
        rows=tuple(rows),
        note=_text(data, "note", place),
        total=_whole(data, "total", 0, place),
    )


def _column(value: object, place: str) -> Column:
    data = _mapping(value, place)
    kind: Any = _choice(data, "kind", get_args(Kind), place) if "kind" in data else "text"
    title, unit = _text(data, "title", place), _text(data, "unit", place)
    digits = _whole(data, "digits", 4, place)
    if digits > MOST_DIGITS:
        raise DocumentError(f"{place}.digits", gettext("this is more than any figure has."))
    return Column(title=title, unit=unit, kind=kind, digits=digits)


def _figure(data: Json, place: str) -> Block:
    chart = _mapping(data.get("chart"), f"{place}.chart")
    table = data.get("data")
    return Figure(
        key=_text(data, "key", place),
        caption=_text(data, "caption", place),
        chart=chart,
        sentence=_text(data, "sentence", place),
        data=_table(_mapping(table, f"{place}.data"), f"{place}.data") if table is not None else None,
    )


def _drawing(data: Json, place: str) -> Block:
    texts = {name: _text(data, name, place) for name in ("key", "caption", "svg", "alternative")}
    return Drawing(**texts)


def _listing(data: Json, place: str) -> Block:
    return Listing(**{name: _text(data, name, place) for name in ("text", "caption", "name")})


_READERS: dict[str, Callable[[Json, str], Block]] = {
    "paragraph": _paragraph,
    "items": _list,
    "table": _table,
    "figure": _figure,
    "drawing": _drawing,
    "listing": _listing,
}


def _parts(data: Json, name: str, place: str) -> tuple[str | Link, ...]:
    return tuple(item if isinstance(item, str) else _link(item, at) for at, item in _items(data, name, place))


def _cell(value: object, place: str) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    return _link(value, place)


def _link(value: object, place: str) -> Link:
    data = _mapping(value, place)
    return Link(text=_text(data, "text", place), ref=_text(data, "ref", place))


def _pair(value: object, place: str) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2:
        raise DocumentError(place, gettext("here stand a label and a text."))
    return _string(value[0], place), _string(value[1], place)


def _items(data: Json, name: str, place: str) -> list[tuple[str, Any]]:
    """Return (place, item) of a list; a list that is left out is empty."""
    at = f"{place}.{name}".lstrip(".")
    found = data.get(name, [])
    if not isinstance(found, list):
        raise DocumentError(at, gettext("here stands a list: [ … ]."))
    return [(f"{at}[{index}]", item) for index, item in enumerate(found)]


def _mapping(value: object, place: str) -> Json:
    if not isinstance(value, dict):
        raise DocumentError(place, gettext("here stands an object: { … }."))
    return value


def _string(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise DocumentError(place, gettext("here stands a text in quotation marks."))
    return value


def _text(data: Json, name: str, place: str) -> str:
    return _string(data.get(name, ""), f"{place}.{name}".lstrip("."))


def _choice(data: Json, name: str, known: Sequence[str], place: str) -> Any:
    found = data.get(name)
    if not isinstance(found, str) or found not in known:
        text = gettext("choose one of %(known)s.") % {"known": ", ".join(known)}
        raise DocumentError(f"{place}.{name}".lstrip("."), text)
    return found


def _whole(data: Json, name: str, usual: int, place: str) -> int:
    found = data.get(name, usual)
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise DocumentError(f"{place}.{name}".lstrip("."), gettext("here stands a whole number."))
    return found
