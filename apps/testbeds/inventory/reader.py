"""Read an inventory's text into texts, lists and mappings that know their line.

Every plain value stays a text: what it means is the schema's affair, so that a switch named "no" or a node "007"
keeps its name.
"""

from collections.abc import Iterator

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.core import documents, messages
from apps.core.documents import MappingNode, ScalarNode, SequenceNode, Value
from apps.testbeds import patterns

__all__ = [
    "MOST_BYTES",
    "MOST_ITEMS",
    "MappingNode",
    "ScalarNode",
    "SequenceNode",
    "UnreadableInventory",
    "Value",
    "decode",
    "read_document",
]

MOST_BYTES = 1024 * 1024
# Things and their parts, such as addresses, patterns counted by their names.
MOST_ITEMS = patterns.MOST_NAMES
_LIMITS = documents.DocumentLimits(most_bytes=MOST_BYTES, deepest=8)


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


def read_document(text: str) -> MappingNode:
    """Return the mapping that a text holds; UnreadableInventory says in which line it is not YAML."""
    try:
        document = documents.read_tree(text, _LIMITS)
    except documents.UnreadableError as error:
        raise UnreadableInventory(messages.render(error.message)) from error
    if not isinstance(document, MappingNode):
        raise UnreadableInventory(
            _("This is no inventory: it begins with sections such as “sites:” and “nodes:”, each with a list.")
        )
    total = 0
    for line, number in _sizes(document):
        total += number
        if total > MOST_ITEMS:
            raise UnreadableInventory(
                _(
                    "Line %(line)s: a file holds at most %(most)s things and parts of things, each name that a"
                    " pattern stands for counted. Send the rest in another."
                )
                % {"line": line, "most": MOST_ITEMS}
            )
    return document


def _sizes(document: MappingNode) -> Iterator[tuple[int, int]]:
    """Yield (line, how many things or parts) of what stands in lists, and of patterns, in the order of the text."""
    for section, value in document.values.items():
        for item in value.items if isinstance(value, SequenceNode) else ():
            own = item.values if isinstance(item, MappingNode) else {}
            if section == "nodes":
                # One entry becomes as many nodes as its name stands for, each with an address of its own.
                yield item.line, max(_names(own.get("name")), 1)
                yield item.line, _names(own.get("addresses"))
            else:
                yield item.line, 1
            for name, part in own.items():
                is_pattern = (section, name) == ("clusters", "nodes")
                for inner in _items(part):
                    yield inner.line, max(_names(inner), 1) if is_pattern else 1
                if is_pattern:
                    yield part.line, _names(part)


def _names(value: Value | None) -> int:
    """Return how many names a text stands for, 0 for what is none."""
    return patterns.count_names(value.text or "") if isinstance(value, ScalarNode) else 0


def _items(value: Value) -> Iterator[Value]:
    """Yield what stands in lists, at any depth, in the order of the text."""
    if isinstance(value, SequenceNode):
        for item in value.items:
            yield item
            yield from _items(item)
    elif isinstance(value, MappingNode):
        for part in value.values.values():
            yield from _items(part)
