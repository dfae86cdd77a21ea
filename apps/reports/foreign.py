"""What a document that comes from elsewhere may hold: its readers are those of ours, and its drawings like ours."""

import re
from collections.abc import Iterator
from xml.parsers import expat

from django.utils.translation import gettext as _

from apps.core.models import KIB
from apps.reports.document import Block, Document, Drawing, Items, Paragraph, Section, walk
from apps.reports.serialisation import DocumentError

# The longest text of a document (B).
MOST_BYTES = 256 * 1024 * KIB
# Blocks and sections of a document, and the texts and links in its paragraphs and lists.
MOST_BLOCKS, MOST_PARTS = 20_000, 200_000
MOST_DRAWINGS, MOST_ELEMENTS, MOST_PIXELS = 20, 50_000, 20_000
# What drawings of networks consist of (apps.testbeds.topology): nothing is fetched, repeated, or reckoned for long.
_ELEMENTS = {
    "svg": {"class", "xmlns", "width", "height", "viewBox", "role", "aria-labelledby", "aria-describedby"},
    "title": {"id"},
    "desc": {"id"},
    "style": set(),
    "g": {"class"},
    "rect": {"x", "y", "width", "height", "rx"},
    "text": {"class", "x", "y"},
    "path": {"class", "d"},
}
_LENGTH = re.compile(r"\d{1,5}(?:\.\d{1,3})?")
# A style gives colours, widths and letters by class.
_STYLE = re.compile(
    r"(?:[.a-z ,-]{1,200}\{(?:(?:fill|stroke|stroke-width|font-family|font-size|font-weight|text-anchor)"
    r":[#\w.,-]{1,60};?){0,20}\}){0,200}",
    re.ASCII,
)


def check(document: Document) -> None:
    """Raise DocumentError for a document of more blocks, texts or drawings than ours have, or of other drawings."""
    sections, blocks = sum(1 for _section in _all(document.sections)), [*walk(document)]
    if sections + len(blocks) > MOST_BLOCKS:
        raise DocumentError("sections", _("these are more than any report has."))
    if sum(map(_parts_of, blocks)) > MOST_PARTS:
        raise DocumentError("blocks", _("these are more texts and links than any report has."))
    drawings = [block for block in blocks if isinstance(block, Drawing)]
    if len(drawings) > MOST_DRAWINGS:
        raise DocumentError("blocks", _("these are more drawings than any report has."))
    for drawing in drawings:
        _check_drawing(drawing)


def _all(sections: tuple[Section, ...]) -> Iterator[Section]:
    for section in sections:
        yield section
        yield from _all(section.sections)


def _parts_of(block: Block) -> int:
    own = len(block.parts) if isinstance(block, Paragraph) else 0
    own += sum(1 + len(item) for item in block.items) if isinstance(block, Items) else 0
    return own + sum(map(_parts_of, block.others or ()))


def _check_drawing(drawing: Drawing) -> None:
    parser, left, open_elements = expat.ParserCreate(), [MOST_ELEMENTS], list[str]()

    def refuse(*_declaration: object) -> None:
        raise DocumentError(drawing.key, _("this is no drawing of a network."))

    def begin(name: str, attributes: dict[str, str]) -> None:
        left[0] -= 1
        is_first = not open_elements
        open_elements.append(name)
        is_ours = name in _ELEMENTS and attributes.keys() <= _ELEMENTS[name] and is_first == (name == "svg")
        if left[0] < 0 or not is_ours:
            refuse()
        for side in ("width", "height"):
            size = attributes.get(side, "")
            if (is_first or size) and (not _LENGTH.fullmatch(size) or float(size) > MOST_PIXELS):
                refuse()

    def end(_name: str) -> None:
        open_elements.pop()

    def text(words: str) -> None:
        if open_elements[-1:] == ["style"] and not _STYLE.fullmatch(words):
            refuse()

    parser.StartDoctypeDeclHandler = parser.ProcessingInstructionHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, text
    parser.buffer_text = True
    try:
        parser.Parse(drawing.svg, True)
    except (expat.ExpatError, ValueError) as error:
        if isinstance(error, DocumentError):
            raise
        raise DocumentError(drawing.key, _("this is no drawing of a network.")) from error
