"""Texts in the one spelling that names are looked for in: small, without accents, nothing escaped or invisible."""

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.archive.landing.redaction.codings import CODINGS, printed, unbroken
from apps.archive.landing.redaction.escapes import Places, is_escaped, unescaped, unmoved, without_escapes
from apps.archive.landing.redaction.letters import breaks_in, latin_in, letters_of

# What is read as it stands by whoever has not escaped it: all of ASCII that anybody sees.
_SEEN_ONLY = re.compile(r"[\t-\r -~]*")
_RUN = re.compile(rf"(?P<seen>{_SEEN_ONLY.pattern[:-1]}+)|.", re.DOTALL)
_BLANKS = str.maketrans("\t\v\f", "   ")
# A Korean syllable in its parts, a letter of Japanese with its voice, and that where it has no letter.
_PARTS = re.compile("[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]?|[가-힣][ᆨ-ᇂ]|[ぁ-ヿ][\u3099\u309a]|[\u3099\u309a]+")
# What stands between the parts of a name: people write one for another, most of all in names of files, in lists and
# in addresses of pages.
DASHES = r"_+./:()\[\]{}·\-"
GAPS = re.compile(rf"[\s{DASHES}]+")
_OUTER_GAPS = re.compile(rf"^{GAPS.pattern}|{GAPS.pattern}$")
# What one sign of a name as it is looked for stands for: dashes, with blanks or without, and whether there are any.
GAP_PATTERNS = {
    "\x00": re.compile(f"[{DASHES}]{{1,3}}"),
    "\x01": re.compile(f"(?:[{DASHES}]{{1,3}})?"),
    "\x02": re.compile(rf"[\s{DASHES}]{{1,3}}"),
    "\x03": re.compile(rf"(?:[\s{DASHES}]{{1,3}})?"),
}
_GAP_SIGNS = dict(zip(((False, False), (False, True), (True, False), (True, True)), GAP_PATTERNS, strict=True))
_HEXADECIMAL = re.compile("[0-9a-f]+")
# German and its neighbours write these as two letters where there are none of them. Each sign here stands for both in
# names as they are looked for, and one for a second letter that is written or not; no folded text has any of them.
SPELT: dict[str, tuple[str, ...]] = {
    "ä": ("a", "ae"), "ö": ("o", "oe"), "ü": ("u", "ue"), "å": ("a", "aa"), "ë": ("", "e"),
}  # fmt: skip
_FREE_E = "ë"
_UMLAUTS = {"ä": "ä", "ö": "ö", "ü": "ü", "å": "å", "ø": "ö"}
_OF_LETTERS = {"a": "ä", "o": "ö", "u": "ü"}
_PLAIN = re.compile("[aou]")
_SPELT_OUT = str.maketrans({sign: ways[-1] for sign, ways in SPELT.items()})
_TWO_LETTERS = re.compile("(?<=[a-z])(?:ae|oe|ue)(?=[a-z])")
# In shorter words the two letters are mostly no umlaut.
_LEAST_SPELT_OUT = 6
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
    for coding in printed(text):
        yield _folded(*unescaped(text, CODINGS, first=(coding,)))
    if plain != text:
        yield _folded(without_escapes(text), unmoved(text))


@functools.lru_cache(maxsize=32_768)
def signs_of(name: str) -> tuple[str, str]:
    """Return a name folded, and its signs as they are looked for: one for what may be written in several ways."""
    folded = fold(name)
    signs = _marked(name, folded)
    longest = spelt_out(signs)
    glued = GAPS.sub("", longest)
    shortest = LEAST_GLUED if glued.isascii() else _LEAST_GLUED_ELSEWHERE
    is_known_glued = len(glued) >= shortest and not _HEXADECIMAL.fullmatch(glued)
    parts = GAPS.split(longest)
    is_known_apart = not any(part.isdigit() for part in parts) and _is_known_apart(parts, glued)
    if is_known_glued:
        signs = _OUTER_GAPS.sub("", signs)
    return folded.text, with_gaps(signs, is_free=is_known_glued, is_blank=is_known_apart)


def spelt_out(signs: str) -> str:
    """Return a name as it is looked for with two letters for each umlaut."""
    return signs.translate(_SPELT_OUT)


def with_gaps(signs: str, *, is_free: bool = False, is_blank: bool = False) -> str:
    """Return a name with one sign for each gap, which any may stand for; none if `is_free`, blanks if `is_blank`."""
    return GAPS.sub(_GAP_SIGNS[is_blank or " " in signs, is_free], signs)


def _is_known_apart(parts: Sequence[str], glued: str) -> bool:
    """Say whether a name with blanks between its parts can hardly be something else."""
    if _HANGUL_AND_FIGURES.fullmatch(glued):
        return sum(not sign.isdigit() for sign in glued) >= _LEAST_SYLLABLES_APART
    return len(glued) >= _LEAST_APART and any(_LETTER_AND_FIGURE.search(part) for part in parts)


def _marked(name: str, folded: Folded) -> str:
    """Return a folded name with a sign for each letter that is written as one or as two where it is an umlaut."""
    signs = list(folded.text)
    for match in _PLAIN.finditer(folded.text) if folded.starts else ():
        start, end = folded.span(*match.span())
        letter = _UMLAUTS.get(unicodedata.normalize("NFC", name[start:end]).casefold())
        # Of a row of the same letter nobody could tell which is written twice.
        if letter and (letter != "å" or folded.text[match.end() : match.end() + 1] != "a"):
            signs[match.start()] = letter
    if len(signs) >= _LEAST_SPELT_OUT:
        for match in _TWO_LETTERS.finditer(folded.text):
            first, second = match.start(), match.end() - 1
            if signs[first] in _OF_LETTERS:
                signs[first], signs[second] = _OF_LETTERS[signs[first]], ""
            else:
                signs[second] = _FREE_E
    return "".join(signs)


def _folded(text_written: str, places: Places) -> Folded:
    signs = _joined(_letters(text_written, places))
    text, cased = "".join(signs.text), "".join(signs.cased)
    return Folded(latin_in(text, cased), cased, frozenset(signs.fresh), signs.starts, signs.ends)


def _letters(text_written: str, places: Places) -> _Signs:
    """Return the letters of each sign; a mark belongs to the one before it, and what nobody sees parts two."""
    signs = _Signs()
    starts, ends = places
    for run in _RUN.finditer(text_written):
        first, last = run.span()
        if run["seen"]:
            signs.text.extend(run.group().lower().translate(_BLANKS))
            signs.cased.extend(run.group())
            signs.starts.extend(starts[first:last])
            signs.ends.extend(ends[first:last])
            continue
        letters = letters_of(run.group())
        if letters is None:
            signs.fresh.add(len(signs.text))
        elif letters:
            for text, cased in letters:
                signs.add(text, cased, starts[first], ends[first])
        elif signs.ends:
            signs.ends[-1] = ends[first]
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
