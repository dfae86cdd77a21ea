"""A document as JSON and back; the canonical form is one text for one content, of which an edition has a checksum."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from apps.bench import strict_json
from apps.reports.document import (
    Claim,
    Column,
    Document,
    Drawing,
    Figure,
    Items,
    Listing,
    Paragraph,
    Section,
    Sentence,
    Table,
    TextLink,
    Topic,
)
from apps.reports.serialisation.reader import FORMAT, from_json, from_text
from apps.reports.serialisation.values import DocumentError, Json

__all__ = ["DocumentError", "Json", "as_json", "canonical", "checksum", "from_json", "from_text"]

_NAMES: dict[type, str] = {
    Paragraph: "paragraph",
    Items: "items",
    Table: "table",
    Figure: "figure",
    Drawing: "drawing",
    Listing: "listing",
}
# What is as usual is left out of these, too.
_SPARSE = Sentence | Claim | Topic
# What no part of an earlier edition has: its text, and with it its checksum, stays as it was.
_OPTIONAL = ("claim", "is_marked")


def as_json(document: Document) -> Json:
    """Return the document as plain JSON values, without the members that are as they usually are."""
    return {"format": FORMAT, **_plain(document)}


def canonical(data: Json) -> str:
    """Return the one text of a content: names sorted, no blanks, whole numbers without a point, no NaN."""
    return strict_json.dumps(_settled(data), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def checksum(text: str) -> str:
    """Return the SHA-256 of a canonical text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return a part of a document as JSON values."""
    if isinstance(value, Document | Section | Column | TextLink | _SPARSE) or type(value) in _NAMES:
        type_name = {"type": _NAMES[type(value)]} if type(value) in _NAMES else {}
        is_sparse = bool(type_name) or isinstance(value, _SPARSE)
        items = ((item, getattr(value, item.name)) for item in fields(value))
        return type_name | {
            item.name: _plain(part)
            for item, part in items
            if part != item.default or not (is_sparse or item.name in _OPTIONAL)
        }
    if isinstance(value, str):
        # No database keeps it and no reader sees it.
        return value.replace("\x00", "")
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, Sequence):
        return [_plain(part) for part in value]
    return value


def _settled(value: Any) -> Any:
    """Return JSON values with each number in one form; what is no number is not known."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {name: _settled(part) for name, part in value.items()}
    return [_settled(part) for part in value] if isinstance(value, list) else value
