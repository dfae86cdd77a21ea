"""Texts in the one spelling that names are looked for in: small, without accents, nothing escaped or invisible."""

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.archive.landing.redaction.codings import CODINGS, unbroken
from apps.archive.landing.redaction.escapes import Places, is_escaped, unescaped, unmoved, without_escapes
from apps.archive.landing.redaction.letters import breaks_in, latin_in, letters_of

# What is read as it stands by whoever has not escaped it: all of ASCII that anybody sees.
_SEEN_ONLY = re.compile(r"[\t-\r -~]*")
_BLANKS = str.maketrans("\t\v\f", "   ")
# A Korean syllable in its parts, a letter of Japanese with its voice, and that where it has no letter.
_PARTS = re.compile("[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]?|[가-힣][ᆨ-ᇂ]|[ぁ-ヿ][\u3099\u309a]|[\u3099\u309a]+")
# What stands between the parts of a name: people write one for another, most of all in names of files, in lists and
# in addresses of pages.
DASHES = r"_+./:()\[\]{}·\-"
GAPS = re.compile(rf"[\s{DASHES}]+")
_HEXADECIMAL = re.compile("[0-9a-f]+")
# German and its neighbours write these as two letters where there are none of them.
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}
_SPELT_OUT = re.compile("(?<=[a-z])(?:ae|oe|ue)(?=[a-z])")
# In shorter words the two letters are mostly no umlaut.
_LEAST_SPELT_OUT = 6
# Of so many each may be written as two letters or as one, of more all or none.
_MOST_UMLAUTS = 4
# Shorter ones stand within words of every day once nothing parts them from what is beside them.
LEAST_GLUED = 4
_LEAST_GLUED_ELSEWHERE = 2
# With blanks in place of its dashes a name of so many signs is known if none of its parts is a number by itself, and
# one has a letter and a figure: "storage-dtn07" is no other thing as "storage dtn07", "server-10" is "server 10".
_LEAST_APART = 8
_LETTER_AND_FIGURE = re.compile("[a-z][0-9]|[0-9][a-z]")
# Blanks are free in Korean: from so many syllables on a name is known with them.
_LEAST_SYLLABLES_APART = 4
_HANGUL_AND_FIGURES = re.compile("[가-힣0-9]+")


@dataclass(frozen=True)
class Folded:
    """A text to search in; `starts` and `ends` lead from its signs to the text as it was, None if it is the same.

    `cased` has as many signs, with their case; before those in `fresh` stood what nobody sees.
    """

    text: str
    cased: str
    fresh: frozenset[int] = frozenset()
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the folded text stands in the original, `end` not included."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]

    def breaks(self) -> frozenset[int]:
        """Return where a word may begin or end though no blank stands there."""
        return self.fresh | breaks_in(self.cased)


@dataclass(frozen=True)
class _Signs:
    """The letters of a text, where each stood in it, and before which of them stood what nobody sees."""

    text: list[str] = field(default_factory=list)
    cased: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    fresh: set[int] = field(default_factory=set)

    def add(self, text: str, cased: str, start: int, end: int) -> None:
        """Add one letter."""
        self.text.append(text)
        self.cased.append(cased)
        self.starts.append(start)
        self.ends.append(end)

    def take(self, other: "_Signs", first: int, last: int) -> None:
        """Add letters of another text, `last` not included."""
        shift = len(self.text) - first
        self.fresh.update(place + shift for place in range(first, last) if place in other.fresh)
        for own, more in zip(self._lists(), other._lists(), strict=True):
            own += more[first:last]

    def _lists(self) -> tuple[list[Any], ...]:
        return self.text, self.cased, self.starts, self.ends


def fold(text: str) -> Folded:
    """Return a text in the spelling that names are compared in."""
    return next(readings(text))


def readings(text: str) -> Iterator[Folded]:
    """Yield a text as it may be read: with its escapes read, with those that may be none, and beside them."""
    plain = text
    if is_escaped(text) or not _SEEN_ONLY.fullmatch(text):
        plain, places = unescaped(text)
        yield _folded(plain, places)
    else:
        yield Folded(text.lower().translate(_BLANKS), text)
    coded, coded_places = unescaped(text, CODINGS)
    if coded != plain:
        yield _folded(coded, coded_places)
    for coding in unbroken(plain):
        yield _folded(*unescaped(text, (coding,)))
    if plain != text:
        yield _folded(without_escapes(text), unmoved(text))


def spellings(name: str) -> Iterator[str]:
    """Yield a name as it may be written where a keyboard has not its letters, itself first, folded."""
    for spelling in dict.fromkeys(_respelt(name)):
        yield spelling
        glued = GAPS.sub("", spelling)
        shortest = LEAST_GLUED if glued.isascii() else _LEAST_GLUED_ELSEWHERE
        if glued != spelling and len(glued) >= shortest and not _HEXADECIMAL.fullmatch(glued):
            yield glued
        parts = GAPS.split(spelling)
        if len(parts) > 1 and not any(part.isdigit() for part in parts) and _is_known_apart(parts, glued):
            yield " ".join(parts)


def _is_known_apart(parts: Sequence[str], glued: str) -> bool:
    """Say whether a name with blanks between its parts can hardly be something else."""
    if _HANGUL_AND_FIGURES.fullmatch(glued):
        return sum(not sign.isdigit() for sign in glued) >= _LEAST_SYLLABLES_APART
    return len(glued) >= _LEAST_APART and any(_LETTER_AND_FIGURE.search(part) for part in parts)


def _respelt(name: str) -> Iterator[str]:
    folded = fold(name).text
    yield folded
    composed = unicodedata.normalize("NFC", name).casefold()
    places = [place for place, sign in enumerate(composed) if sign in _UMLAUTS]
    each = len(places) <= _MOST_UMLAUTS
    for pattern in itertools.product((False, True), repeat=len(places)) if each else ((True,) * len(places),):
        signs = list(composed)
        for place, is_two in zip(places, pattern, strict=True):
            signs[place] = _UMLAUTS[signs[place]] if is_two else signs[place]
        if any(pattern):
            yield fold("".join(signs)).text
    if len(folded) >= _LEAST_SPELT_OUT and _SPELT_OUT.search(folded):
        yield _SPELT_OUT.sub(lambda match: match.group()[0], folded)


def _folded(text_written: str, places: Places) -> Folded:
    signs = _joined(_letters(text_written, places))
    text, cased = "".join(signs.text), "".join(signs.cased)
    return Folded(latin_in(text, cased), cased, frozenset(signs.fresh), signs.starts, signs.ends)


def _letters(text_written: str, places: Places) -> _Signs:
    """Return the letters of each sign; a mark belongs to the one before it, and what nobody sees parts two."""
    signs = _Signs()
    for sign, start, end in zip(text_written, *places, strict=True):
        letters = letters_of(sign)
        if letters is None:
            signs.fresh.add(len(signs.text))
        elif letters:
            for text, cased in letters:
                signs.add(text, cased, start, end)
        elif signs.ends:
            signs.ends[-1] = end
    return signs


def _joined(signs: _Signs) -> _Signs:
    """Return the letters with parts of one as that one, whatever nobody sees stood between them."""
    joined = _Signs()
    done = 0
    for parts in _PARTS.finditer("".join(signs.text)):
        joined.take(signs, done, parts.start())
        if parts.start() in signs.fresh:
            joined.fresh.add(len(joined.text))
        for sign in unicodedata.normalize("NFC", parts.group()).strip("\u3099\u309a"):
            joined.add(sign, sign, signs.starts[parts.start()], signs.ends[parts.end() - 1])
        done = parts.end()
    if not done:
        return signs
    joined.take(signs, done, len(signs.text))
    return joined
