"""Inputs that make a regular expression slow: each of its repeats, pumped."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

# Repeats that end before this are no matter of how long a text is.
LEAST = 60
_PALETTE = ' a0.\n\tA-_:=,/"([é'
# What a pumped text ends with, for a match to fail as late as can be.
_TAILS = ("\0", "\n\0", "")
_REPEATS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)


@dataclass(frozen=True)
class Pump:
    """A text of any length: what matches up to a repeat, what the repeat takes over and over, and an end."""

    front: str
    body: str
    tail: str
    # Whether the body stands between two repeats: what grows with the square is slow only where a text is long.
    is_between: bool = False

    def text(self, length: int) -> str:
        """Return a text of about so many signs."""
        return self.front + self.body * max(1, length // len(self.body)) + self.tail


def pumps(pattern: re.Pattern) -> list[Pump]:
    """Return what each repeat of the pattern can be tried with."""
    found: dict[Pump, None] = {}
    for front, body, rest in _pumps(list(parser.parse(pattern.pattern, pattern.flags)), "", pattern.flags):
        if rest is None:
            found[Pump(front, body, "\0", is_between=True)] = None
            continue
        found |= dict.fromkeys(Pump(front, body, tail) for tail in (*_TAILS, rest + "\0"))
        if front:
            found |= dict.fromkeys((Pump("", front, "\0"), Pump("", front + body, "\0")))
    return list(found)


def _pumps(items: list, front: str, flags: int) -> Iterator[tuple[str, str, str | None]]:
    """Yield (front, body, rest); the rest is None of a body that stands between two repeats."""
    for place, (kind, value) in enumerate(items):
        rest = "".join(_sample([item], " ", flags) for item in items[place + 1 :])
        if kind in _REPEATS:
            _least, most, body = value
            if most >= LEAST:
                for body_text in dict.fromkeys(_sample(list(body), sign, flags) for sign in _PALETTE):
                    if body_text:
                        yield front, body_text, rest
                if between := _sample(_up_to_a_repeat(items[place + 1 :]), " ", flags):
                    # What stands between two repeats, over and over: each may be where the first of them ends.
                    yield front, between, None
            for inner_front, inner, inner_rest in _pumps(list(body), front, flags):
                yield inner_front, inner, None if inner_rest is None else inner_rest + rest
        else:
            for branch in _branches(kind, value):
                for inner_front, inner, inner_rest in _pumps(branch, front, flags):
                    yield inner_front, inner, None if inner_rest is None else inner_rest + rest
        front += _sample([(kind, value)], "a", flags)


def _up_to_a_repeat(items: list) -> list:
    """Return the items before the first that may repeat without end."""
    for place, (kind, value) in enumerate(items):
        if kind in _REPEATS and value[1] >= LEAST:
            return items[:place]
    return []


def _branches(kind: Any, value: Any) -> list[list]:
    if kind is kinds.SUBPATTERN:
        return [list(value[-1])]
    if kind is kinds.BRANCH:
        return [list(branch) for branch in value[1]]
    if kind is kinds.ATOMIC_GROUP:
        return [list(value)]
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        return [list(value[1])]
    if kind is kinds.GROUPREF_EXISTS:
        return [list(part) for part in value[1:] if part]
    return []


def _sample(items: list, sign: str, flags: int) -> str:
    """Return a short text that the items match, of `sign` wherever it fits."""
    return "".join(_piece(kind, value, sign, flags) for kind, value in items)


def _piece(kind: Any, value: Any, sign: str, flags: int) -> str:
    if kind is kinds.LITERAL:
        return chr(value)
    if kind is kinds.NOT_LITERAL:
        return next(letter for letter in sign + _PALETTE if letter != chr(value))
    if kind is kinds.ANY:
        return sign if sign != "\n" or flags & re.DOTALL else "a"
    if kind is kinds.IN:
        return _member(value, sign)
    if kind in _REPEATS:
        least, most, body = value
        return _sample(list(body), sign, flags) * max(int(least), 1 if most >= LEAST else 0)
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT, kinds.AT):
        return ""
    branches = _branches(kind, value)
    return _sample(branches[0], sign, flags) if branches else ""


def _member(charset: list, sign: str) -> str:
    for letter in sign + _PALETTE + "".join(map(chr, range(128))):
        if _holds(charset, letter):
            return letter
    firsts = [value if kind is kinds.LITERAL else value[0] for kind, value in charset if kind is not kinds.NEGATE]
    return chr(firsts[0])


_CATEGORIES = {
    kinds.CATEGORY_DIGIT: r"\d",
    kinds.CATEGORY_NOT_DIGIT: r"\D",
    kinds.CATEGORY_SPACE: r"\s",
    kinds.CATEGORY_NOT_SPACE: r"\S",
    kinds.CATEGORY_WORD: r"\w",
    kinds.CATEGORY_NOT_WORD: r"\W",
}


def _holds(charset: list, letter: str) -> bool:
    is_negated, is_in = False, False
    for kind, value in charset:
        if kind is kinds.NEGATE:
            is_negated = True
        elif kind is kinds.LITERAL:
            is_in |= ord(letter) == value
        elif kind is kinds.RANGE:
            is_in |= value[0] <= ord(letter) <= value[1]
        elif kind is kinds.CATEGORY:
            is_in |= re.fullmatch(_CATEGORIES[value], letter) is not None
    return is_in is not is_negated
