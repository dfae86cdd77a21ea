"""Read an inventory's text into texts, lists and mappings that know their line.

Every plain value stays a text: what it means is the schema's affair, so that a switch named "no" or a node "007"
keeps its name.
"""

import itertools
from collections.abc import Iterator

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.core import documents, messages
from apps.core.documents import Entry, Listing, Text, Value

__all__ = [
    "MOST_BYTES",
    "MOST_ITEMS",
    "Entry",
    "Listing",
    "Text",
    "UnreadableInventory",
    "Value",
    "decode",
    "read_document",
]

MOST_BYTES = 1024 * 1024
# Things and their parts, such as addresses: each is checked and stored by itself, some hundred a second, while who
# sent the file waits.
MOST_ITEMS = 3000
_LIMITS = documents.Limits(most_bytes=MOST_BYTES, deepest=8)


class UnreadableInventory(ValidationError):
    """The text is not what an inventory can be read from."""

    def __init__(self, text: str) -> None:
        super().__init__({"inventory": [text]})


def decode(data: bytes) -> str:
    """Return the text of a file; UnreadableInventory if it is too large or not UTF-8."""
    try:
        return documents.decode(data, _LIMITS)
    except documents.UnreadableError as error:
        raise UnreadableInventory(messages.render(error.message)) from error


def read_document(text: str) -> Entry:
    """Return the mapping that a text holds; UnreadableInventory says in which line it is not YAML."""
    try:
        document = documents.read_tree(text, _LIMITS)
    except documents.UnreadableError as error:
        raise UnreadableInventory(messages.render(error.message)) from error
    if not isinstance(document, Entry):
        raise UnreadableInventory(
            _("This is no inventory: it begins with sections such as “sites:” and “nodes:”, each with a list.")
        )
    items = list(itertools.islice(_items(document), MOST_ITEMS + 1))
    if len(items) > MOST_ITEMS:
        text = _("Line %(line)s: a file holds at most %(most)s things and parts of things. Send the rest in another.")
        raise UnreadableInventory(text % {"line": items[-1].line, "most": MOST_ITEMS})
    return document


def _items(value: Value) -> Iterator[Value]:
    """Yield what stands in lists, at any depth, in the order of the text."""
    if isinstance(value, Listing):
        for item in value.items:
            yield item
            yield from _items(item)
    elif isinstance(value, Entry):
        for part in value.values.values():
            yield from _items(part)
