"""Texts in the one spelling that names are looked for in: small, without accents, nothing escaped or invisible."""

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.archive.landing.redaction.escapes import unescaped

# A sign with its accents, or a Korean syllable in its parts.
_CLUSTER = re.compile(r".[̀-ͯᅠ-ᇿ゙゚]*", re.DOTALL)
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣"), "-")
_INVISIBLE = dict.fromkeys([0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF])
_BLANKS = dict.fromkeys(map(ord, "\t\v\f\u00a0\u2028\u2029"), " ")
# Letters whose strokes no composition tells.
_LETTERS = str.maketrans(
    {"ı": "i", "ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ħ": "h"}
)
# It ends a part of a host's name, too.
_FULL_STOP = {ord("。"): "."}
_PLAIN = _DASHES | _INVISIBLE | _BLANKS | _LETTERS | _FULL_STOP
_ACCENTED = re.compile("[À-ɏḀ-ỿ]")
_ACCENTS = re.compile("[̀-ͯ]+")
# German and its neighbours write these as two letters where there are none of them.
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}
_SPELT_OUT = re.compile("(?<=[a-z])(?:ae|oe|ue)(?=[a-z])")
# In shorter words the two letters are mostly no umlaut.
_LEAST_SPELT_OUT = 6


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
    if text.isascii() and not any(sign in text for sign in "%\\&"):
        return Folded(text.lower().translate(_BLANKS))
    signs, places = unescaped(text)
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for cluster in _CLUSTER.finditer(signs):
        plain = _plain(cluster.group())
        first, last = places[cluster.start()][0], places[cluster.end() - 1][1]
        folded.append(plain)
        starts += [first] * len(plain)
        ends += [last] * len(plain)
    return Folded("".join(folded), starts, ends)


def spellings(name: str) -> Iterator[str]:
    """Yield a name as it may be written where a keyboard has not its letters, itself first, folded."""
    folded = fold(name).text
    yield folded
    composed = unicodedata.normalize("NFC", name).casefold()
    if any(sign in composed for sign in _UMLAUTS):
        yield fold("".join(_UMLAUTS.get(sign, sign) for sign in composed)).text
    if len(folded) >= _LEAST_SPELT_OUT and _SPELT_OUT.search(folded):
        yield _SPELT_OUT.sub(lambda found: found.group()[0], folded)


@functools.lru_cache(maxsize=20_000)
def _plain(cluster: str) -> str:
    """Return one sign, with what is combined with it, as names are compared."""
    composed = unicodedata.normalize("NFKC", cluster).casefold()
    letters = (
        _ACCENTS.sub("", unicodedata.normalize("NFD", sign)) if _ACCENTED.match(sign) else _ACCENTS.sub("", sign)
        for sign in composed
    )
    return "".join(letters).translate(_PLAIN)
