"""Names are found where a pattern of each would find them, and thousands as quickly as a few."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.archive.landing.redaction import addresses
from apps.archive.landing.redaction.occurrences import Occurrences
from apps.archive.landing.redaction.spelling import LEAST_GLUED, with_gaps

SIGNS = "ab7 -._대전б"
EDGES = {"latin": (addresses.BEGIN, addresses.END), "other": (r"(?<![^\W_])", r"(?![^\W_])"), "none": ("", "")}
IN_WORD = re.compile(r"(?<=[^\W\d_])")


def edge_of(sign: str) -> str:
    return "latin" if sign in "ab7" else "other" if sign == "б" else "none"


def patterns_of(name: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of what stands before a name, of the name, and of what stands after it."""
    parts = re.split(r"([\s_+.-]+)", name)
    gap = r"[\s_+.-]{1,3}" if " " in name else r"[_.-]{1,3}"
    inner = "".join(re.escape(part) if number % 2 == 0 else gap for number, part in enumerate(parts))
    return re.compile(EDGES[edge_of(name[0])][0]), re.compile(inner), re.compile(EDGES[edge_of(name[-1])][1])


def is_numbered(name: str) -> bool:
    return re.search(r"[^\W\d_]", name) is not None and "7" in name


def one_by_one(names: list[str], text: str, breaks: set[int]) -> list[tuple[int, int]]:
    patterns, spans, place = [(*patterns_of(name), is_numbered(name)) for name in names], [], 0
    while place < len(text):
        ends = []
        for before, pattern, after, numbered in patterns:
            # What one sign stands for, as a gap does for a name of dashes, is in every text.
            if (occurrence := pattern.match(text, place)) and occurrence.end() - place > 1:
                is_long = occurrence.end() - place >= LEAST_GLUED
                within = breaks if is_long else set()
                if (
                    before.match(text, place)
                    or place in within
                    or (numbered and is_long and IN_WORD.match(text, place))
                ) and (after.match(text, occurrence.end()) or occurrence.end() in within):
                    ends.append(occurrence.end())
        if ends:
            spans.append((place, max(ends)))
        place = max(ends, default=place + 1)
    return spans


@given(
    names=st.lists(st.text(SIGNS, min_size=2, max_size=5), max_size=6),
    text=st.text(SIGNS, max_size=40),
    breaks=st.sets(st.integers(0, 40)),
)
def test_they_stand_where_a_pattern_of_each_finds_them(names: list[str], text: str, breaks: set[int]) -> None:
    spans = Occurrences({with_gaps(name): name for name in names}).spans(text, frozenset(breaks))
    assert [(start, end) for start, end, _word in spans] == one_by_one(names, text, breaks)


@pytest.mark.parametrize("count", [1, 20_000])
def test_a_text_is_gone_through_once_however_many_there_are(count: int) -> None:
    names = [f"node-{number:05d}.site{number % 50}.example.org" for number in range(count)]
    occurrences = Occurrences({with_gaps(name): f"word {place}" for place, name in enumerate([*names, "node"])})
    text = f"from {names[-1]} to Node, or node; "
    assert list(occurrences.spans(text)) == [
        (5, 5 + len(names[-1]), f"word {count - 1}"),
        (len(text) - 6, len(text) - 2, f"word {count}"),
    ]
