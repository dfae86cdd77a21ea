"""What programs themselves warn of, in their own words."""

import re
from collections.abc import Sequence

from apps.bench.outputs import texts
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Output

MOST, LONGEST = 3, 160
# "WARNING: …", "sockperf: WARNING: …", "[  3] WARNING: …", "!!! WARNING" with the words on the next line.
_WARNING = re.compile(
    r"^(?:[\[\]\d *!]{0,12}|[\w.-]{1,20}: ?)warning\b[:= \t]*(?P<said>[^\n]*)(?:\n!!! *(?P<next>[^\n]+))?",
    re.M | re.I,
)
# What concerns no figure.
_HARMLESS = re.compile(r"exists already and will be overwritten|assuming POSIX-based backend|AsErrors", re.I)


def flags(outputs: Sequence[Output]) -> list[Flag]:
    """Return one flag with the first warnings that the measuring programs printed."""
    warnings: dict[str, None] = {}
    for output in outputs:
        for match in _WARNING.finditer(texts.read_text(output)):
            words = " ".join((match["said"].strip(" \"'") or match["next"] or "").split())
            if words and not _HARMLESS.search(words):
                warnings[words[:LONGEST]] = None
    if not warnings:
        return []
    text = _("The program itself warns: %(said)s")
    excerpt = "; ".join(list(warnings)[:MOST])
    return [Flag("program-warned", "info", Message(text, {"said": "".join(c for c in excerpt if c.isprintable())}))]
