"""Where names stand in a text: by the signs that they begin with, however many names there are."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from apps.archive.landing.redaction import addresses
from apps.archive.landing.redaction.spelling import DASHES, GAPS, LEAST_GLUED

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
# Steps of the tree that are no sign, and where the pattern of what may follow a whole name stands.
_WIDE, _NARROW, _END = 0, 1, 2
_GAPS = {_WIDE: re.compile(rf"[\s{DASHES}]{{1,3}}"), _NARROW: re.compile(f"[{DASHES}]{{1,3}}")}
# A name that begins with a gap may be written with any.
_ANY_GAP = rf"\s{DASHES}"

_Step = str | int
# Below a step: a tree, or of a name that nothing else begins like, its other steps and the pattern of its end.
_Rest = tuple[tuple[_Step, ...], re.Pattern[str]]
_Tree = dict[_Step, Any]


class Occurrences:
    """Finds folded names in folded texts: the longest at each place that no word of its own script goes on around.

    One pattern of all names would take seconds to be compiled for some thousands of them, at each reader's request.
    """

    def __init__(self, names: Iterable[str], edges: tuple[str, str] | None = None) -> None:
        """Take the names, and what stands before and after each if its signs do not tell."""
        self._tree: _Tree = {}
        firsts: dict[str, set[str]] = {}
        for name in names:
            before, after = edges or _edges(name)
            _insert(self._tree, tuple(_steps(name)), _compiled(after))
            firsts.setdefault(before, set()).add(name[0] if _first(name) else _ANY_GAP)
        begins = [
            f"{edge}(?=[{''.join(sign if sign == _ANY_GAP else re.escape(sign) for sign in sorted(signs))}])"
            for edge, signs in firsts.items()
        ]
        self._begin = re.compile("|".join(begins)) if begins else None

    def spans(self, text: str, breaks: frozenset[int] = frozenset()) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of each name in a text, in their order; none overlaps another.

        At `breaks` a word begins and ends though nothing parts it from the next; a short name does not.
        """
        if self._begin is None:
            return
        done = 0
        begins = {match.start() for match in self._begin.finditer(text)}
        for start in sorted(begins | breaks):
            if (
                start >= done
                and (end := self._longest(text, start, breaks, is_glued=start not in begins)) is not None
            ):
                yield start, end
                done = end

    def _longest(self, text: str, start: int, breaks: frozenset[int], *, is_glued: bool) -> int | None:
        """Return where the longest name ends that begins here, None if none does."""
        longest = None
        places: list[tuple[_Tree | _Rest, int]] = [(self._tree, start)]
        while places:
            below, place = places.pop()
            end: int | None
            edge: re.Pattern[str] | None
            if isinstance(below, tuple):
                end, edge = _passed(below[0], text, place), below[1]
            else:
                end, edge = place, below.get(_END)
                places += _onwards(below, text, place)
            if edge is None or end is None or (longest is not None and end <= longest):
                continue
            may_be_glued = end - start >= LEAST_GLUED
            if (may_be_glued or not is_glued) and (
                edge.match(text, end) or (may_be_glued and _ends_glued(text, end, breaks))
            ):
                longest = end
        return longest


def _ends_glued(text: str, end: int, breaks: frozenset[int]) -> bool:
    """Say whether a word ends by a change of case, beside a figure, or but for the sign of more than one."""
    if end in breaks:
        return True
    plural = _PLURAL.match(text, end)
    return plural is not None and (plural.end() in breaks or _LATIN_END.match(text, plural.end()) is not None)


def _insert(tree: _Tree, steps: tuple[_Step, ...], edge: re.Pattern[str]) -> None:
    for number, step in enumerate(steps, start=1):
        below = tree.get(step)
        if below is None:
            tree[step] = (steps[number:], edge)
            return
        if isinstance(below, tuple):
            tree[step] = {}
            _insert(tree[step], *below)
        tree = tree[step]
    tree[_END] = edge


def _onwards(tree: _Tree, text: str, place: int) -> Iterator[tuple[_Tree | _Rest, int]]:
    """Yield what stands below the steps that a text takes at a place, and where it goes on."""
    if place < len(text) and text[place] in tree:
        yield tree[text[place]], place + 1
    for step, gap in _GAPS.items():
        if step in tree and (run := gap.match(text, place)):
            yield tree[step], run.end()


def _passed(steps: tuple[_Step, ...], text: str, place: int) -> int | None:
    """Return where a text is once it took all steps, None if it does not."""
    for step in steps:
        if isinstance(step, int):
            run = _GAPS[step].match(text, place)
            if run is None:
                return None
            place = run.end()
        elif text[place : place + 1] == step:
            place += 1
        else:
            return None
    return place


def _first(name: str) -> bool:
    """Return whether a name begins with a sign of its own, and with no gap."""
    return GAPS.match(name) is None


def _steps(name: str) -> Iterator[_Step]:
    """Yield a name's signs; for what stands between its parts one step."""
    done = 0
    for gap in GAPS.finditer(name):
        yield from name[done : gap.start()]
        yield _WIDE if " " in gap.group() else _NARROW
        done = gap.end()
    yield from name[done:]


def _edges(name: str) -> tuple[str, str]:
    return _edge(name[0], addresses.BEGIN, _OTHER_BEGIN), _edge(name[-1], addresses.END, _OTHER_END)


def _edge(sign: str, latin: str, other: str) -> str:
    if _LATIN_SIGN.match(sign):
        return latin
    # A particle follows without a blank, and another word may.
    return other if sign.isalnum() and not _UNSPACED.match(sign) else ""


def _compiled(edge: str) -> re.Pattern[str]:
    # Kept by `re` itself: there are four.
    return re.compile(edge)
