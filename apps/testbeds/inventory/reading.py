"""Read a YAML text into texts, lists and mappings that know their line; nothing in it is ever built or run.

Every plain value stays a text: what it means is the schema's affair, so that a switch named "no" or a node "007"
keeps its name. Anchors and aliases are refused: a few lines of them can stand for gigabytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

MOST_BYTES = 1024 * 1024
_DEEPEST = 8
_NOTHING = {"", "~", "null", "Null", "NULL"}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Text:
    """A scalar; `text` is None for YAML's null."""

    line: int
    text: str | None


@dataclass(frozen=True)
class Listing:
    """A sequence."""

    line: int
    items: list["Value"] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """A mapping, its keys in their order."""

    line: int
    values: dict[str, "Value"] = field(default_factory=dict)


Value = Text | Listing | Entry


class UnreadableInventory(ValidationError):
    """The text is not what an inventory can be read from."""

    def __init__(self, text: str) -> None:
        super().__init__({"inventory": [text]})


def decode(data: bytes) -> str:
    """Return the text of a file; UnreadableInventory if it is too large or not UTF-8."""
    _refuse_large(len(data))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableInventory(
            _("The file is not UTF-8 text (byte %(place)s): save it as UTF-8.") % {"place": error.start + 1}
        ) from error


def read_document(text: str) -> Entry:
    """Return the mapping that a text holds; UnreadableInventory says in which line it is not YAML."""
    try:
        _refuse_large(len(text.encode()))
        return _document(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UnreadableInventory(
            _("Line %(line)s: this is not YAML (%(problem)s).")
            % {"line": mark.line + 1 if mark else "?", "problem": error.problem or error.context}
        ) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise UnreadableInventory(_("The text holds a character that YAML does not allow: take it out.")) from error


def _refuse_large(size: int) -> None:
    if size > MOST_BYTES:
        raise UnreadableInventory(
            _("The file is larger than %(most)s KiB: split it and import the parts one after the other.")
            % {"most": MOST_BYTES // 1024}
        )


def _document(events: Iterator[yaml.Event]) -> Entry:
    found: Value | None = None
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent) and found is not None:
            raise UnreadableInventory(
                _("Line %(line)s: a second document begins; an inventory is one document.") % {"line": _line(event)}
            )
        if isinstance(event, yaml.NodeEvent):
            found = _value(event, events, depth=0)
    if not isinstance(found, Entry):
        raise UnreadableInventory(
            _("This is no inventory: it begins with sections such as “sites:” and “nodes:”, each with a list.")
        )
    return found


def _value(event: Any, events: Iterator[yaml.Event], depth: int) -> Value:
    line = _line(event)
    if depth > _DEEPEST:
        raise UnreadableInventory(_("Line %(line)s: this is nested too deeply.") % {"line": line})
    if isinstance(event, yaml.AliasEvent) or event.anchor:
        raise UnreadableInventory(
            _("Line %(line)s: anchors (&) and aliases (*) are not read; write the value out.") % {"line": line}
        )
    if isinstance(event, yaml.ScalarEvent):
        return Text(line, None if event.implicit[0] and event.value in _NOTHING else event.value)
    if isinstance(event, yaml.SequenceStartEvent):
        listing = Listing(line)
        while not isinstance(inner := next(events), yaml.SequenceEndEvent):
            listing.items.append(_value(inner, events, depth + 1))
        return listing
    return _entry(line, events, depth)


def _entry(line: int, events: Iterator[yaml.Event], depth: int) -> Entry:
    entry = Entry(line)
    while not isinstance(inner := next(events), yaml.MappingEndEvent):
        key = _value(inner, events, depth + 1)
        if not isinstance(key, Text) or not key.text:
            raise UnreadableInventory(_("Line %(line)s: a field needs a name.") % {"line": key.line})
        if key.text in entry.values:
            raise UnreadableInventory(
                _("Line %(line)s: “%(field)s” stands here twice: leave one out.")
                % {"line": key.line, "field": key.text}
            )
        entry.values[key.text] = _value(next(events), events, depth + 1)
    return entry


def _line(event: Any) -> int:
    return event.start_mark.line + 1
