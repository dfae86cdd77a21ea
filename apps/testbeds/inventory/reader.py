"""Read an inventory's text into texts, lists and mappings that know their line.

Every plain value stays a text: what it means is the schema's affair, so that a switch named "no" or a node "007"
keeps its name.
"""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.core import documents, messages
from apps.core.documents import Entry, Listing, Text, Value

__all__ = ["MOST_BYTES", "Entry", "Listing", "Text", "UnreadableInventory", "Value", "decode", "read_document"]

MOST_BYTES = 1024 * 1024
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
    return document
