"""Patterns that people write: RE2 for what is matched here, a closed part of Python's for what agents match."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import re2

from apps.bench.text import Message, _

LONGEST_PATTERN = 500
# More matches than this in one output are taken for a mistake in the pattern; the first ones count.
MOST_MATCHES = 100_000
# RE2 writes repetitions out, and takes time for each byte by what that gives: `.{80}` has 640 parts, `\p{L}` 1200.
MOST_PARTS = 2000
# All patterns of a definition have so many together: all are compiled where a definition comes in.
MOST_PARTS_TOGETHER = 10_000
# A search takes at most 13 ns a byte for each part of a pattern, which so many groups double.
_GROUPS_THAT_DOUBLE = 32
# A search can not be ended, so each goes through as many bytes as are done in two seconds by the worst pattern.
_PARTS_TIMES_BYTES = 2**27
# The second match is looked for in half of what the first may be, and so on down to the shortest stretch: more than a
# match is long in any text of the size that agents send, unless they are of very different lengths.
_LOOKED_THROUGH, _SHORTEST_STRETCH = 2**26, 2**13

# Those that agents match have so many signs at most, and so many groups within groups.
MOST_READY_SIGNS = 500
DEEPEST_GROUPS = 20

_ESCAPE = r"\\(?:[AZbBdDwWsSnrtfva0]|x[0-9A-Fa-f]{2}|[!-/:-@\[-`{-~ ])"
_READY_PART = re.compile(
    rf"(?P<times>(?:[*+?]|\{{(?!\}})\d{{0,3}}(?:,\d{{0,3}})?\}})\??)"
    rf"|{_ESCAPE}|\[\^?\]?(?:{_ESCAPE}|[^\]\\])*\]|\((?:\?:|\?P<[A-Za-z_]\w{{0,50}}>)?(?!\?)|[)|^$.]"
    r"|(?P<sign>(?!\{(?!\})\d*,?\d*\})[^\\\[(])",
    re.ASCII,
)
_LOOKS = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9]|\(\?P=")


class PatternError(ValueError):
    """A pattern that can not be used; ``message`` says why."""

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(str(message))


@dataclass(frozen=True)
class PatternMatch:
    """The value that a pattern found, and the unit printed with it ("" unless the pattern has such a group)."""

    value: str
    unit: str = ""


class Pattern:
    """A pattern of RE2's syntax, in which ^ and $ are the beginning and the end of each line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled: Any = _compile(text)
        names = {name.decode(): index for name, index in self._compiled.groupindex.items()}
        self._unit = names.get("unit")
        others = [index for index in range(1, self._compiled.groups + 1) if index != self._unit]
        self.has_value = bool(others)
        self.parts, groups = max(self._compiled.programsize, self._compiled.reverseprogramsize), self._compiled.groups
        self.is_too_large = self.parts > MOST_PARTS
        weight = self.parts * (1 + groups / _GROUPS_THAT_DOUBLE)
        self._longest_stretch = max(int(_PARTS_TIMES_BYTES / weight), _SHORTEST_STRETCH)
        self._value = names.get("value", others[0] if others else 0)

    def finds(self, text: bytes) -> str:
        """Return the first line that holds a match, "" without one."""
        match = next(self._matches(text), None)
        if match is None:
            return ""
        start = text.rfind(b"\n", 0, match.start()) + 1
        end = text.find(b"\n", match.end())
        line = text[start : end if end >= 0 else None].decode("utf-8", "replace").strip()
        return line[:200] or match.group()[:200].decode("utf-8", "replace").strip() or "…"

    def values(self, text: bytes) -> Iterator[PatternMatch]:
        """Yield what the pattern's groups found, in the order of the text."""
        for match in self._matches(text):
            value = match.group(self._value)
            if value is not None:
                unit = match.group(self._unit) if self._unit else None
                yield PatternMatch(value.decode("utf-8", "replace"), (unit or b"").decode("utf-8", "replace"))

    def _matches(self, text: bytes) -> Iterator[Any]:
        """Yield matches one behind the other, each looked for in stretches that shrink with how many there are.

        RE2 takes linear time for one match; to look through the rest of the text for each of many takes the square.
        """
        place = 0
        for count in range(1, MOST_MATCHES + 1):
            stretch = min(self._longest_stretch, max(_LOOKED_THROUGH // count, _SHORTEST_STRETCH))
            match = self._next(text, place, stretch)
            if match is None:
                return
            yield match
            place = match.end() + (match.end() == match.start())
            if place > len(text):
                return

    def _next(self, text: bytes, place: int, stretch: int) -> Any:
        """Return the first match from a place on, None without one; each search is of a stretch of the text."""
        while True:
            end = place + stretch
            match = self._compiled.search(text, place, end)
            if match is None:
                if end >= len(text):
                    return None
                place += stretch // 2
            elif match.end() < end or end >= len(text) or match.start() == place:
                return match
            else:
                # More of it may stand behind the stretch.
                place = match.start()


def check_size(text: str) -> None:
    """Raise PatternError for a pattern that takes too long for each byte; stored definitions may have such."""
    if Pattern(text).is_too_large:
        why = _(
            "With its repetitions written out this is too large to be searched for: repeat less, or fewer letters."
        )
        raise PatternError(Message(why))


def check_ready(text: str) -> None:
    """Raise PatternError for a ready pattern that agents refuse.

    They match a closed part of Python's patterns in time linear in the output (workers/agent/ready), no others.
    """
    _refuse_long(text)
    try:
        re.compile(text.encode("utf-8", "replace"))
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(Message(_("This is not a pattern: %(why)s."), {"why": str(error)})) from error
    if _size_of(text) > MOST_READY_SIGNS:
        why = _("With its repetitions written out this has more than %(limit)s signs: make it shorter.")
        raise PatternError(Message(why, {"limit": MOST_READY_SIGNS}))


def _size_of(text: str) -> int:
    """Return how many signs a ready pattern has with its counted repetitions written out; PatternError for others."""
    sizes, last, place, was_repetition = [0], 0, 4 if text.startswith("(?i)") else 0, True
    while place < len(text):
        part = _READY_PART.match(text, place)
        times = part and part["times"]
        opens = text[place] == "("
        if part is None or (times and was_repetition) or (opens and len(sizes) > DEEPEST_GROUPS):
            why = _("Use only texts, classes, ^ $ | ( ) (?: ) and * + ? {n,m} here: the agent matches this itself.")
            raise PatternError(Message(why))
        if times:
            counts = [int(count) for count in re.findall(r"\d+", times)]
            sizes[-1] += last * (max([1, *counts]) - 1)
        elif opens:
            sizes.append(1)
        else:
            last = len(part[0].encode("utf-8", "replace")) if part["sign"] else 1
            if text[place] == ")":
                last += sizes.pop()
            sizes[-1] += last
        was_repetition, place = bool(times), part.end()
    return sizes[0]


def _compile(text: str) -> Any:
    _refuse_long(text)
    if _LOOKS.search(text):
        why = _("Look-around and back-references are not known here: describe what stands on the line instead.")
        raise PatternError(Message(why))
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.UTF8
    try:
        return re2.compile(b"(?m)" + text.encode("utf-8", "replace"), options)
    except re2.error as error:
        first = error.args[0] if error.args else ""
        complaint = first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)
        raise PatternError(Message(_("This is not a pattern: %(why)s."), {"why": complaint})) from error


def _refuse_long(text: str) -> None:
    if len(text) > LONGEST_PATTERN:
        raise PatternError(Message(_("Use at most %(limit)s characters."), {"limit": LONGEST_PATTERN}))
