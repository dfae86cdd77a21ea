"""Where names stand in a text: by the signs that they begin with, however many names there are."""

import re
from collections.abc import Iterator, Mapping
from os.path import commonprefix
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from apps.archive.landing.redaction import addresses
from apps.archive.landing.redaction.codings import LISTED
from apps.archive.landing.redaction.spelling import DASHES, GAP_PATTERNS, LEAST_GLUED, SPELT

_LATIN_SIGN = re.compile(rf"[{addresses.LATIN}]")
# Scripts that are written without blanks: Hangul, Han, Kana.
_UNSPACED = re.compile(r"[ᄀ-ᇿ⺀-〿぀-ヿ㄰-㆏㐀-鿿가-퟿豈-﫿\U00020000-\U0003ffff]")
_LATIN_END = re.compile(addresses.END)
_PLURAL = re.compile("e?s")
# A particle follows a Korean word without a blank, and so does how somebody is addressed.
_TITLES = "님|씨|군|양|박사|교수|선생|과장|팀장|대리|부장|연구원"
_PARTICLES = (
    "은|는|이|가|을|를|의|에|에게|에게서|에서|한테|께|께서|과|와|랑|이랑|도|만|로|으로|부터|까지|처럼|보다|이나|나|이며|며|"
    "이고|고|라고|이라고|입니다|이다"
)
# What stands before and after a whole word of Korean.
KOREAN_WORD = ("(?<![가-힣])", rf"(?=(?:{_TITLES})?님?(?:{_PARTICLES})?(?![가-힣]))")
_OTHER_BEGIN, _OTHER_END = r"(?<![^\W_])", r"(?![^\W_])"
# A name that begins with a gap may be written with any.
_FIRST = dict.fromkeys(GAP_PATTERNS, rf"\s{DASHES}") | {sign: ways[0] for sign, ways in SPELT.items()}
_SEVERAL = frozenset((*GAP_PATTERNS, *SPELT))
_IN_WORD = r"(?<=[^\W\d_])"
# A name with a letter and a figure, of one host or of several in a list, is no word of every day.
_NUMBERED = re.compile(rf"(?=.*[^\W\d_]).*[0-9{LISTED}]", re.DOTALL)
# One sign, or what folds to one, stands in every text.
_SHORTEST = 2
# What a text may take for each of its signs, and for so many more: names of every day take up to five. Thousands that
# differ in their umlauts alone may all begin at each letter of a row.
_MOST_STEPS_EACH, _SIGNS_MORE = 16, 64


class _TooManyStepsError(Exception):
    """A text takes too long to be gone through for names."""


class _Steps:
    """How many steps a text has left: each takes one place in it by one sign, or to where names part."""

    def __init__(self, text: str) -> None:
        self._left = _MOST_STEPS_EACH * (len(text) + _SIGNS_MORE)

    def take(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise _TooManyStepsError


class _Name(NamedTuple):
    """A name at its end in the tree: the lower its number, the earlier it was given."""

    number: int
    word: str
    after: re.Pattern[str]
    is_numbered: bool


# Below a sign: all signs to the next that names part at, and what follows; "" leads to the name that ends.
_Tree = dict[str, Any]


class Occurrences:
    """Finds names in folded texts: the longest at each place that no word of its own script goes on around.

    Each name is there once, in a tree, however many its spellings: one pattern of all names would take seconds to be
    compiled for some thousands of them, at each reader's request.
    """

    def __init__(self, names: Mapping[str, str], edges: tuple[str, str] | None = None) -> None:
        """Take the words for names as they are looked for, and what stands before and after each if no sign tells."""
        self._tree: _Tree = {}
        firsts: dict[str, set[str]] = {}
        for number, (signs, word) in enumerate(names.items()):
            before, after = edges or _edges(signs)
            is_numbered = edges is None and _NUMBERED.match(signs) is not None
            _insert(self._tree, signs, _Name(number, word, _compiled(after), is_numbered))
            for edge in (before, _IN_WORD) if is_numbered else (before,):
                firsts.setdefault(edge, set()).add(_FIRST.get(signs[0]) or re.escape(signs[0]))
        patterns = {edge: f"{edge}(?=[{''.join(sorted(signs))}])" for edge, signs in firsts.items()}
        in_word = patterns.pop(_IN_WORD, None)
        self._begin = re.compile("|".join(patterns.values()) or "(?!)")
        self._in_word = re.compile(in_word or "(?!)")

    def spans(self, text: str, breaks: frozenset[int] = frozenset()) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, its word) of each name in a text, in their order; none overlaps another.

        At `breaks` a word begins and ends though nothing parts it from the next; a short name does not. A numbered
        name begins after any letter. A text that takes too many steps is hidden whole.
        """
        try:
            spans = list(self._spans(text, breaks))
        except _TooManyStepsError:
            spans = [(0, len(text), _("hidden"))]
        yield from spans

    def _spans(self, text: str, breaks: frozenset[int]) -> Iterator[tuple[int, int, str]]:
        steps = _Steps(text)
        done = 0
        begins = {match.start() for match in self._begin.finditer(text)}
        in_words = {match.start() for match in self._in_word.finditer(text)}
        for start in sorted(begins | breaks | in_words):
            if start < done:
                continue
            ends = (
                (end, -name.number, name.word)
                for end, name in self._ends(text, start, steps)
                if (start in begins or (end - start >= LEAST_GLUED and (start in breaks or name.is_numbered)))
                and _is_whole(name, text, start, end, breaks)
            )
            if longest := max(ends, default=None):
                done, _number, word = longest
                yield start, done, word

    def word(self, text: str) -> str | None:
        """Return the word for a name that is all of a text, None if none is; for too many steps one, too."""
        names = (name for end, name in self._ends(text, 0, _Steps(text)) if end == len(text))
        try:
            return min(((name.number, name.word) for name in names), default=(0, None))[1]
        except _TooManyStepsError:
            return _("hidden")

    def _ends(self, text: str, start: int, steps: _Steps) -> Iterator[tuple[int, _Name]]:
        """Yield where each name ends that begins here."""
        below: list[tuple[_Tree, set[int]]] = [(self._tree, {start})]
        while below:
            tree, places = below.pop()
            steps.take(len(places))
            if "" in tree:
                yield from ((place, tree[""]) for place in places)
            written = {text[place : place + 1] for place in places} - {""}
            for sign in sorted(tree.keys() & (written | _SEVERAL)):
                signs, after = tree[sign]
                if ends := _passed(signs, text, places, steps):
                    below.append((after, ends))


def _is_whole(name: _Name, text: str, start: int, end: int, breaks: frozenset[int]) -> bool:
    if end - start < _SHORTEST:
        return False
    return name.after.match(text, end) is not None or (end - start >= LEAST_GLUED and _ends_glued(text, end, breaks))


def _ends_glued(text: str, end: int, breaks: frozenset[int]) -> bool:
    """Say whether a word ends by a change of case, beside a figure, or but for the sign of more than one."""
    if end in breaks:
        return True
    plural = _PLURAL.match(text, end)
    return plural is not None and (plural.end() in breaks or _LATIN_END.match(text, plural.end()) is not None)


def _insert(tree: _Tree, signs: str, name: _Name) -> None:
    while signs:
        if signs[0] not in tree:
            tree[signs[0]] = (signs, {"": name})
            return
        run, below = tree[signs[0]]
        shared = len(run) if signs.startswith(run) else len(commonprefix((run, signs)))  # noqa: RUF071
        if shared < len(run):
            below = {run[shared]: (run[shared:], below)}
            tree[signs[0]] = (run[:shared], below)
        tree, signs = below, signs[shared:]
    tree[""] = name


def _passed(signs: str, text: str, places: set[int], steps: _Steps) -> set[int]:
    """Return where a text may be once it took all signs."""
    for sign in signs:
        steps.take(len(places))
        if gap := GAP_PATTERNS.get(sign):
            places = {run.end() for place in places if (run := gap.match(text, place))}
        elif ways := SPELT.get(sign):
            places = {place + len(way) for place in places for way in ways if text.startswith(way, place)}
        else:
            places = {place + 1 for place in places if text.startswith(sign, place)}
        if not places:
            break
    return places


def _edges(signs: str) -> tuple[str, str]:
    return _edge(signs[0], addresses.BEGIN, _OTHER_BEGIN), _edge(signs[-1], addresses.END, _OTHER_END)


def _edge(sign: str, latin: str, other: str) -> str:
    if _LATIN_SIGN.match(sign):
        return latin
    # A particle follows without a blank, and another word may.
    return other if sign.isalnum() and not _UNSPACED.match(sign) else ""


def _compiled(edge: str) -> re.Pattern[str]:
    # Kept by `re` itself: there are four.
    return re.compile(edge)
