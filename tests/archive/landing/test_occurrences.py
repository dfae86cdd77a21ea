"""Names are found where a pattern of each would find them, and thousands as quickly as a few."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.archive.landing.redaction import addresses
from apps.archive.landing.redaction.occurrences import Occurrences
from apps.archive.landing.redaction.spelling import LEAST_GLUED

SIGNS = "ab7 -._대전б"
EDGES = {"latin": (addresses.BEGIN, addresses.END), "other": (r"(?<![^\W_])", r"(?![^\W_])"), "none": ("", "")}


def edge_of(sign: str) -> str:
    return "latin" if sign in "ab7" else "other" if sign == "б" else "none"


def patterns_of(name: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of what stands before a name, of the name, and of what stands after it."""
    parts = re.split(r"([\s_+.-]+)", name)
    inner = "".join(
        re.escape(part) if number % 2 == 0 else (r"[\s_+.-]{1,3}" if " " in part else r"[_.-]{1,3}")
        for number, part in enumerate(parts)
    )
    return re.compile(EDGES[edge_of(name[0])][0]), re.compile(inner), re.compile(EDGES[edge_of(name[-1])][1])


def one_by_one(names: list[str], text: str, breaks: set[int]) -> list[tuple[int, int]]:
    patterns, spans, place = [patterns_of(name) for name in names], [], 0
    while place < len(text):
        ends = []
        for before, pattern, after in patterns:
            if found := pattern.match(text, place):
                within = breaks if found.end() - place >= LEAST_GLUED else set()
                if (before.match(text, place) or place in within) and (
                    after.match(text, found.end()) or found.end() in within
                ):
                    ends.append(found.end())
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
    assert list(Occurrences(names).spans(text, frozenset(breaks))) == one_by_one(names, text, breaks)


@pytest.mark.parametrize("count", [1, 20_000])
def test_a_text_is_gone_through_once_however_many_there_are(count: int) -> None:
    names = [f"node-{number:05d}.site{number % 50}.example.org" for number in range(count)]
    found = Occurrences([*names, "node"])
    text = f"from {names[-1]} to Node, or node; "
    assert list(found.spans(text)) == [(5, 5 + len(names[-1])), (len(text) - 6, len(text) - 2)]
