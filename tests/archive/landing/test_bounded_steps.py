"""No names make a text take more steps than grow with its own length: one that would is hidden whole."""

import itertools
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from apps.archive.landing.redaction import occurrences
from apps.archive.landing.redaction.occurrences import Occurrences
from apps.archive.landing.redaction.spelling import GAP_PATTERNS, SPELT
from apps.campaigns.models.campaigns import LONGEST_GOAL

# How each sign of a name as it is looked for is written, and letters that it may be written as.
WRITTEN = dict.fromkeys(GAP_PATTERNS, ("-", " - ")) | SPELT | {"a": ("a",), "e": ("e",), "-": ("-",)}
PAIRS = [pair for pair in itertools.combinations(WRITTEN, 2) if {*pair} - {"a", "e", "-"}]
# Lines of Python for each sign of a text: names of every day take up to a hundred, and these took ten thousands.
MOST_LINES_EACH, LENGTH = 1000, 400


class TooManyLinesError(Exception):
    """More lines were run than may be."""


def lines_of(occurrences_of: Occurrences, text: str) -> int:
    """Return how many lines are run to look for names in a text, or for a name that is all of it."""
    lines = 0

    def count(_frame: FrameType, _event: str, _value: Any) -> Any:
        nonlocal lines
        lines += 1
        if lines > MOST_LINES_EACH * len(text):
            raise TooManyLinesError
        return count

    def enter(frame: FrameType, _event: str, _value: Any) -> Any:
        return count if frame.f_code.co_filename == occurrences.__file__ else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        list(occurrences_of.spans(text))
        occurrences_of.word(text)
    finally:
        sys.settrace(before)
    return lines


def texts_of(pair: tuple[str, str]) -> Iterator[str]:
    """Yield long texts of what both signs are written as, in rows that end as a name does, or not at all."""
    for ways in itertools.product(*(filter(None, WRITTEN[sign]) for sign in pair)):
        for row in (*ways, "".join(ways)):
            yield (row * LENGTH)[:LENGTH]
        yield ("".join(ways) * 5 + "1b ") * (LENGTH // 20)


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_steps_grow_with_the_text_whatever_names_there_are(pair: tuple[str, str]) -> None:
    rows = itertools.product(pair, repeat=11)
    names = Occurrences({f"{''.join(row)}1": f"word {number}" for number, row in enumerate(rows)})
    for text in dict.fromkeys(texts_of(pair)):
        lines_of(names, text)


def test_a_text_that_would_take_more_is_hidden_whole() -> None:
    names = Occurrences({f"{''.join(row)}1": "word" for row in itertools.product("aä", repeat=11)})
    text = "ab1 " + "a" * LONGEST_GOAL
    assert list(names.spans(text)) == [(0, len(text), "hidden")]
    assert names.word("a" * 11 + "1") == "hidden"
    assert list(names.spans("at noon")) == [] and names.word("noon") is None


def test_texts_of_many_ordinary_names_are_not() -> None:
    names = [f"zürich-käse-{number}" for number in range(50)]
    names += [f"n{one}-{two}" for one in range(40) for two in range(40)]
    looked_for = Occurrences({name.replace("-", "\x01"): name for name in names})
    for text in (" ".join(names), "zuerichkaese" * 800, "n1-" * 3000):
        assert (0, len(text), "hidden") not in list(looked_for.spans(text))
