"""Texts in the one spelling that names are looked for in: small letters, composed, nothing escaped or invisible."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# A sign with its accents, or a Korean syllable in its parts.
_CLUSTER = re.compile(r".[̀-ͯᅠ-ᇿ゙゚]*", re.DOTALL)
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣"), "-")
_INVISIBLE = dict.fromkeys([0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF])
_PLAIN = _DASHES | _INVISIBLE | dict.fromkeys(map(ord, "\t\v\f\u00a0\u2028\u2029"), " ")
_BYTES_OF_AN_ESCAPE = 3


@dataclass(frozen=True)
class Folded:
    """A text to search in; `starts` and `ends` lead from its signs to the text as it was, None if it is the same."""

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the folded text stands in the original, `end` not included."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


def fold(text: str) -> Folded:
    """Return a text in the spelling that names are compared in."""
    if text.isascii() and "%" not in text:
        return Folded(text.lower())
    signs, places = _unescaped(text)
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for cluster in _CLUSTER.finditer("".join(signs)):
        plain = unicodedata.normalize("NFKC", cluster.group()).casefold().translate(_PLAIN)
        first, last = places[cluster.start()], places[cluster.end() - 1]
        for sign in plain:
            folded.append(sign)
            starts.append(first[0])
            ends.append(last[1])
    return Folded("".join(folded), starts, ends)


def _unescaped(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the signs of a text without percent-encoding, and where each of them stands in it."""
    signs: list[str] = []
    places: list[tuple[int, int]] = []
    escapes = list(_ESCAPED.finditer(text))
    begins = [found.start() for found in escapes]
    at = 0
    while at < len(text):
        index = bisect_right(begins, at) - 1
        if index >= 0 and escapes[index].start() == at:
            at = _decode(escapes[index], signs, places)
        else:
            signs.append(text[at])
            places.append((at, at + 1))
            at += 1
    return signs, places


def _decode(escaped: re.Match[str], signs: list[str], places: list[tuple[int, int]]) -> int:
    """Add what escaped bytes stand for, those that stand for nothing as they are; return where they end."""
    at = escaped.start()
    for sign in bytes.fromhex(escaped.group().replace("%", "")).decode("utf-8", "surrogateescape"):
        if "\ud800" <= sign <= "\udfff":
            for raw in escaped.string[at : at + _BYTES_OF_AN_ESCAPE]:
                signs.append(raw)
                places.append((at, at + 1))
                at += 1
        else:
            end = at + _BYTES_OF_AN_ESCAPE * len(sign.encode())
            signs.append(sign)
            places.append((at, end))
            at = end
    return at
