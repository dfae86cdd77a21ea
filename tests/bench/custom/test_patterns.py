"""What people's patterns may cost, and that bounding it changes nothing that they find."""

import random
import re
import time
from contextlib import suppress
from typing import Any

import pytest
import re2

from apps.bench.custom import template
from apps.bench.custom.patterns import Pattern
from apps.core import cpu_time
from tests.rotation import part_of


class Counting:
    """A compiled pattern that sums up how many bytes it was given to look through."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self.given = 0

    def search(self, text: bytes, start: int, end: int) -> Any:
        """Search a stretch of a text."""
        self.given += min(end, len(text)) - start
        return self._compiled.search(text, start, end)


@pytest.mark.parametrize("text", [r"(\d+)", r"^x(\w*)$", r"(a)(?:[^b]*b)?", r"(\d*)", r"x=(?P<value>\d)(?P<unit>\w)"])
def test_the_matches_are_those_of_the_library(text: str) -> None:
    dice = random.Random(5)
    pattern, library = Pattern(text), re2.compile(b"(?m)" + text.encode())
    for _turn in range(100):
        data = "".join(dice.choice("ab12x=\n ") for _sign in range(dice.randrange(60))).encode()
        expected = [found.group(1).decode() for found in library.finditer(data)]
        assert [match.value for match in pattern.values(data)] == expected, data


def test_a_match_is_looked_for_beyond_a_long_gap() -> None:
    text = b"".join(b"v=%d\n" % number + b"." * 9000 + b"\n" for number in range(30)) + b"end 1"
    assert [match.value for match in Pattern(r"^(?:v=|end )(\d+)$").values(text)] == [*map(str, range(30)), "1"]
    assert [match.value for match in Pattern(r"v=29[\s\S]*end (\d)").values(text)] == ["1"]


def test_many_matches_that_each_look_to_the_end_take_no_square_of_the_text() -> None:
    pattern = Pattern(r"(a)(?:[\s\S]*b)?")
    counting = pattern._compiled = Counting(pattern._compiled)
    size = 30_000
    assert sum(1 for _match in pattern.values(b"a" * size)) == size
    assert counting.given < 300_000_000 < size**2 / 2


def test_a_match_that_the_end_of_a_stretch_cuts_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = Pattern(r"rate=(\d+)")
    pattern._longest_stretch = 64
    for gap in range(40, 80):
        text = b"." * gap + b"rate=123456789\n" + b"." * 300
        assert [match.value for match in pattern.values(text)] == ["123456789"], gap
        assert pattern.finds(text).endswith("rate=123456789"), gap


# The most that a job prints, and what patterns of 500 signs are nasty with.
LARGEST = 64 * 2**20
SIGNS = ("abcq", "ab", "a", "ab\n")
PARTS = ("[a-z]{%d}", "(?:a?){%d}", ".{%d}", r"[\s\S]{%d}", "(?:a|ab|b){%d}", "(a|b|c|q|\n){%d}", r"(?:\b|.){%d}")


def _nasty_patterns() -> list[str]:
    """Return patterns of parts that are repeated as often as may be, each in several forms."""
    patterns = []
    for part in PARTS:
        sizes = [size for size in range(50, 1000, 50) if not Pattern(part % size).is_too_large]
        most = max(sizes)
        patterns += [f"(?:{part % (most - 40)})*x", f"[a-q]{part % (most - 40)}x", f"(?:{part % (most // 4)})*"]
        patterns += [f"[a-q]{part % (most // 3)}{part % (most // 3)}x", "()" * 90 + f"(?:{part % (most // 2)})*"]
    patterns += ["([^x]*)" * 60 + "x", "(?:(a|b)*(a|b|c)*(q|a|b)*){20}" + "()" * 100, "(?:" + "(a?)" * 90 + ")*"]
    return [text for text in patterns if not Pattern(text).is_too_large]


def test_no_pattern_keeps_a_reading_from_being_ended() -> None:
    dice = random.Random(3)
    texts = [("".join(dice.choice(signs) for _sign in range(2**16)) * (LARGEST // 2**16)).encode() for signs in SIGNS]
    patterns = part_of(_nasty_patterns())
    slow = {}
    for text in patterns:
        pattern = Pattern(text)
        for printed in dice.sample(texts, 2):
            began = time.process_time()
            with suppress(cpu_time.OutOfTimeError), cpu_time.limited(0.02):
                next(pattern.values(printed), None) if pattern.has_value else pattern.finds(printed)
            took_s = time.process_time() - began
            if took_s > 4:
                slow[text[:60]] = took_s
    assert not slow


@pytest.mark.parametrize("slots", [1, 3, 30])
def test_values_come_back_from_a_word_in_one_pass(slots: int) -> None:
    word = template.parse_line(",".join(f"{{x{number}}}" for number in range(slots)) + "!")[0]
    texts = [str(number) for number in range(slots)]
    assert template._values_in(",".join(texts) + "!", word) == texts
    # With an engine that backtracks this takes as long as there are ways to part it.
    assert template._values_in("," * 200, word) is None


def test_values_come_back_as_a_pattern_would_find_them() -> None:
    dice = random.Random(7)
    for _turn in range(3000):
        parts = [dice.choice([template.Slot("x"), "a", "b", "ab"]) for _part in range(dice.randrange(1, 6))]
        text = "".join(dice.choice("ab") for _sign in range(dice.randrange(7)))
        pattern = "".join(re.escape(part) if isinstance(part, str) else "(.*?)" for part in parts)
        found = re.fullmatch(pattern, text)
        assert template._values_in(text, tuple(parts)) == (list(found.groups()) if found else None)
