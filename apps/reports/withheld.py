"""What readers of other teams get of a frozen document: all but what is the own team's to read."""

import json
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from apps.reports import serialisation
from apps.reports.serialisation import Json

# The section with what agents told and what the inventory remarks, and the tables there that are for all readers.
SECTION = "testbed"
FOR_ALL = ("testbeds", "file-systems", "links")


def for_others(canonical: str) -> str:
    """Return the canonical text of a document without what agents told, clusters and notes; a line says so.

    Whatever other table stands in that section is the team's own: a new one is withheld until it is named here.
    """
    data: Json = json.loads(canonical)
    for section in data.get("sections", ()):
        if section.get("key") == SECTION:
            blocks = [_without_note(block) for block in section.get("blocks", ()) if _is_for_all(block)]
            if blocks != section.get("blocks", []):
                with translation.override(data.get("language") or None):
                    text = _("What agents told of the nodes, clusters and notes are read by the team whose they are.")
                line = {"type": "paragraph", "style": "remark", "parts": [text]}
                section["blocks"] = [*blocks, line]
    return serialisation.canonical(data)


def _is_for_all(block: Any) -> bool:
    return block.get("type") != "table" or block.get("key") in FOR_ALL


def _without_note(block: Any) -> Any:
    return {name: part for name, part in block.items() if block.get("type") != "table" or name != "note"}
