"""What readers of other teams get of a frozen document: all but what is the own team's to read."""

import json
import re
from collections.abc import Iterable
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from apps.bench.comparison import OF_SURROUNDINGS
from apps.reports import serialisation
from apps.reports.serialisation import Json

# Of what was frozen before blocks were marked: the section of facts and notes, and the tables there that are for all.
_SECTION = "testbed"
# … and the beginnings of the keys of sections of findings, whose reasons and lines may rest on settings of nodes.
_FINDINGS = ("finding-", "problem-")
_FOR_ALL = ("testbeds", "file-systems", "links")


def for_others(canonical: str) -> str:
    """Return the canonical text of a document with what others get in place of marked blocks; a line says so."""
    data: Json = json.loads(canonical)
    with translation.override(data.get("language") or None):
        if not data.get("is_marked"):
            _mark(data)
        data["summary"] = _for_others(data.get("summary", ()))
        for section in _sections(data):
            blocks = _for_others(section.get("blocks", ()))
            if blocks != section.get("blocks", []):
                text = _("What agents told of the nodes, clusters and notes are read by the team whose they are.")
                section["blocks"] = [*blocks, {"type": "paragraph", "style": "remark", "parts": [text]}]
    return serialisation.canonical(data)


def _sections(part: Json) -> Iterable[Json]:
    for section in part.get("sections", ()):
        yield section
        yield from _sections(section)


def _for_others(blocks: Iterable[Json]) -> list[Json]:
    return [other for block in blocks for other in block.get("others", [block])]


def _mark(data: Json) -> None:
    """Mark the blocks of what was frozen before they were: by their section, and by the words of remarks."""
    # What stands around the values of each message.
    messages = [re.split(r"%\(\w+\)s", _(msgid)) for msgid in OF_SURROUNDINGS]
    for section in _sections(data):
        for block in section.get("blocks", ()):
            if block.get("type") == "table" and section.get("key") == _SECTION:
                without_note = {name: part for name, part in block.items() if name != "note"}
                if block.get("key") not in _FOR_ALL:
                    block["others"] = []
                elif without_note != block:
                    block["others"] = [without_note]
            elif block.get("type") in ("items", "listing") and str(section.get("key")).startswith(_FINDINGS):
                block["others"] = []
            elif block.get("style") in ("remark", "warning"):
                text = _text(block)
                if any(all(words in text for words in message) for message in messages):
                    block["others"] = []


def _text(paragraph: Json) -> str:
    parts: list[Any] = paragraph.get("parts", [])
    return "".join(part if isinstance(part, str) else str(part.get("text", "")) for part in parts)
