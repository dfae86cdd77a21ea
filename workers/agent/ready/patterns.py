"""From a pattern's text to an automaton: a closed part of the regular expressions of Python, over bytes.

Texts, ``.``, classes, ``^ $ \\b \\B``, groups, ``|`` and the repetitions ``* + ? {n,m}`` mean what they mean there
with re.MULTILINE; what looks ahead or back, or refers to a group, does not exist. The automaton is Glushkov's (1961):
one position for each byte that a pattern names, so its size is bounded before anything is searched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .automaton import ALL, BEGINNING, BOUNDARY, END, MOST_POSITIONS, WITHIN, Automaton

LONGEST = 500
DEEPEST = 20
_COUNT = re.compile(r"\{(?!\})(\d*)(,?)(\d*)\}", re.ASCII)
_GROUP = re.compile(r"\((?:\?:|\?P<[A-Za-z_]\w{0,50}>)?(?!\?)", re.ASCII)
_HEX = re.compile(r"\\x([0-9A-Fa-f]{2})")
_MARKS = {"\\A": BEGINNING, "^": BEGINNING, "$": END, "\\Z": END, "\\b": BOUNDARY, "\\B": WITHIN}
_CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7, "0": 0}


def _set_of(values: bytes) -> int:
    return sum(1 << value for value in set(values))


_DIGITS = _set_of(b"0123456789")
_WORD = _set_of(bytes(value for value in range(128) if chr(value).isalnum()) + b"_")
_BLANKS = _set_of(b" \t\n\r\f\v")
_CLASSES = {
    **{"d": _DIGITS, "w": _WORD, "s": _BLANKS},
    **{"D": ALL & ~_DIGITS, "W": ALL & ~_WORD, "S": ALL & ~_BLANKS},
}
_ANY = ALL & ~(1 << 10)


class BadPattern(ValueError):
    """A pattern that the agent does not match; the text says why."""


@dataclass(frozen=True)
class _Piece:
    """A part of a pattern: whether it matches nothing at all, and its first and last positions as sets of bits."""

    empty: bool
    first: int
    last: int


_NOTHING = _Piece(True, 0, 0)


def compile_pattern(text: str) -> Automaton:
    """Return the automaton of a pattern; BadPattern for one that is too large, or not of this kind."""
    if len(text) > LONGEST:
        raise BadPattern(f"it is longer than {LONGEST} characters")
    return _Builder(text).build()


class _Builder:
    """Reads a pattern from the front; a repeated part is read again for each time it is needed."""

    def __init__(self, text: str) -> None:
        self._folds = text.startswith("(?i)")
        self._text = text[4:] if self._folds else text
        self._at = self._depth = self._steps = 0
        self._symbols: list[int] = []
        self._follow: list[int] = []

    def build(self) -> Automaton:
        whole = self._alternatives()
        if self._at < len(self._text):
            raise BadPattern("a ) stands alone")
        return Automaton(tuple(self._symbols), tuple(self._follow), whole.first, whole.last, whole.empty)

    def _alternatives(self) -> _Piece:
        piece = self._sequence()
        while self._peek() == "|":
            self._at += 1
            other = self._sequence()
            piece = _Piece(piece.empty or other.empty, piece.first | other.first, piece.last | other.last)
        return piece

    def _sequence(self) -> _Piece:
        self._count_step()
        piece = _NOTHING
        while self._peek() not in ("", "|", ")"):
            piece = self._joined(piece, self._repeated())
        return piece

    def _repeated(self) -> _Piece:
        """Read an atom and how often it stands there."""
        self._count_step()
        start = self._at
        piece = self._atom()
        least, most = self._times()
        if self._is_a_repetition():
            raise BadPattern("a repetition is itself repeated")
        after = self._at
        if (least, most) == (1, 1):
            return piece
        if most == 0:
            return _NOTHING
        return self._copies(piece, start, after, least, most)

    def _copies(self, piece: _Piece, start: int, after: int, least: int, most: int | None) -> _Piece:
        total = _NOTHING
        for number in range(most if most is not None else max(1, least)):
            if number:
                self._count_step()
                self._at = start
                piece = self._atom()
            if number >= least:
                piece = _Piece(True, piece.first, piece.last)
            total = self._joined(total, piece)
        if most is None:
            self._link(piece.last, piece.first)
        self._at = after
        return total

    def _count_step(self) -> None:
        # Groups that hold nothing, or repeat what does, make no positions.
        self._steps += 1
        if self._steps > 10 * MOST_POSITIONS:
            raise BadPattern("it repeats too much")

    def _times(self) -> tuple[int, int | None]:
        """Return how often the atom before may stand: least and most, None for any number."""
        sign = self._peek()
        bounds: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        count = _COUNT.match(self._text, self._at)
        if sign in bounds:
            self._at += 1
            least, most = bounds[sign]
        elif count:
            self._at = count.end()
            if max(len(count[1]), len(count[3])) > 3:
                raise BadPattern("it repeats too much")
            least, last = int(count[1] or 0), count[3] if count[2] else count[1]
            most = int(last) if last else None
            if most is not None and most < least:
                raise BadPattern("a count ends before it begins")
        else:
            return 1, 1
        if self._peek() == "?":
            # As few as possible: the same lines match.
            self._at += 1
        return least, most

    def _is_a_repetition(self) -> bool:
        return self._peek() in ("*", "+", "?") or _COUNT.match(self._text, self._at) is not None

    def _atom(self) -> _Piece:
        sign, two = self._peek(), self._text[self._at : self._at + 2]
        if sign == "(":
            return self._group()
        if sign == "[":
            return self._position(self._folded(self._class()))
        if sign in ("*", "+", "?"):
            raise BadPattern(f"nothing stands before a {sign}")
        for mark in (sign, two):
            if mark in _MARKS:
                self._at += len(mark)
                return self._position(1 << _MARKS[mark])
        if sign == ".":
            self._at += 1
            return self._position(_ANY)
        if sign == "\\":
            return self._position(self._folded(self._escaped()))
        self._at += 1
        # As with a pattern of bytes, a repetition behind a sign of several bytes is one of its last byte.
        values = sign.encode("utf-8", "surrogatepass")
        piece = _NOTHING
        for value in values[:-1]:
            piece = self._joined(piece, self._position(1 << value))
        return self._joined(piece, self._position(self._folded(1 << values[-1])))

    def _group(self) -> _Piece:
        opening = _GROUP.match(self._text, self._at)
        if opening is None:
            raise BadPattern("a group looks ahead or back, or sets a flag: only ( ), (?: ) and names are known here")
        self._depth += 1
        if self._depth > DEEPEST:
            raise BadPattern(f"groups stand in more than {DEEPEST} others")
        self._at = opening.end()
        piece = self._alternatives()
        if self._peek() != ")":
            raise BadPattern("a group is not closed")
        self._at += 1
        self._depth -= 1
        return piece

    def _escaped(self) -> int:
        """Read a backslash and what follows; the set of bytes that they stand for."""
        code = _HEX.match(self._text, self._at)
        if code:
            self._at = code.end()
            return 1 << int(code[1], 16)
        sign = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        if sign in _CLASSES:
            return _CLASSES[sign]
        if sign in _CONTROLS:
            return 1 << _CONTROLS[sign]
        if not sign or not sign.isascii() or sign.isalnum():
            raise BadPattern(f"\\{sign} is not known here")
        return 1 << ord(sign)

    def _class(self) -> int:
        """Read a class in brackets; the set of bytes that it holds."""
        self._at += 1
        is_without = self._peek() == "^"
        self._at += is_without
        octets, start = 0, self._at
        while self._peek() != "]" or self._at == start:
            low = self._member()
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                high = self._member()
                low = self._range(low, high)
            octets |= low
        self._at += 1
        return ALL & ~octets if is_without else octets

    def _member(self) -> int:
        sign = self._peek()
        if not sign:
            raise BadPattern("a [ is not closed")
        if sign == "\\":
            if self._text.startswith("\\b", self._at):
                self._at += 2
                return 1 << 8
            return self._escaped()
        self._at += 1
        return _set_of(sign.encode("utf-8", "surrogatepass"))

    @staticmethod
    def _range(low: int, high: int) -> int:
        if low & (low - 1) or high & (high - 1) or high < low:
            raise BadPattern("a range in brackets has no two ends")
        return (high << 1) - low

    def _folded(self, values: int) -> int:
        if not self._folds:
            return values
        both = [byte for byte in range(128) if values >> byte & 1 and chr(byte).isalpha()]
        return values | _set_of(bytes(byte ^ 32 for byte in both))

    def _position(self, symbols: int) -> _Piece:
        """Add a position that matches any of a set of symbols."""
        if len(self._symbols) >= MOST_POSITIONS:
            raise BadPattern(f"it is made of more than {MOST_POSITIONS} signs")
        bit = 1 << len(self._symbols)
        self._symbols.append(symbols)
        self._follow.append(0)
        return _Piece(False, bit, bit)

    def _joined(self, one: _Piece, other: _Piece) -> _Piece:
        self._link(one.last, other.first)
        first = one.first | other.first if one.empty else one.first
        last = one.last | other.last if other.empty else other.last
        return _Piece(one.empty and other.empty, first, last)

    def _link(self, ends: int, beginnings: int) -> None:
        while ends:
            bit = ends & -ends
            self._follow[bit.bit_length() - 1] |= beginnings
            ends ^= bit

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]
