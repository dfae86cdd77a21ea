"""Names of many nodes in one line."""

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from apps.testbeds import patterns


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("kgfs[01-04]", ["kgfs01", "kgfs02", "kgfs03", "kgfs04"]),
        ("a[8-10]", ["a8", "a9", "a10"]),
        ("a[08-10,12], b", ["a08", "a09", "a10", "a12", "b"]),
        ("a[1, 3] b;c\nd", ["a1", "a3", "b", "c", "d"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("10.0.1.[11-12]", ["10.0.1.11", "10.0.1.12"]),
        ("", []),
        (" , ", []),
    ],
)
def test_a_pattern_stands_for_names(text: str, names: list[str]) -> None:
    assert patterns.expand_pattern(text) == names
    assert patterns.count_names(text) == len(names)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a[1-", "a bracket is open"),
        ("a]1", "a bracket is open"),
        ("a[[1]]", "a bracket is open"),
        ("a[]", "numbers and ranges"),
        ("a[x-y]", "numbers and ranges"),
        ("a[1-2-3]", "numbers and ranges"),
        ("a[9-1]", "ends before it begins"),
        ("a[1-999999999]", "more than 3000 names"),
        ("a[1-100]b[1-100]", "more than 3000 names"),
        ("a[1-2000] b[1-2000]", "more than 3000 names"),
    ],
)
def test_a_wrong_pattern_is_refused_with_the_part_and_the_remedy(text: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        patterns.expand_pattern(text)
    assert patterns.count_names(text) == (patterns.MOST_NAMES + 1 if "more than" in said else 1)


def test_a_long_wrong_part_is_shown_shortened() -> None:
    with pytest.raises(ValidationError) as caught:
        patterns.expand_pattern("a[" + "x" * 1000)
    assert len(caught.value.messages[0]) < 200


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["kgfs02", "kgfs01", "kgfs03"], "kgfs[01-03]"),
        (["KIGFS01", "HEXA01", "KIGFS02"], "HEXA01, KIGFS[01-02]"),
        (["a9", "a10", "a11"], "a[9-11]"),
        (["a09", "a9", "a10"], "a09, a[9-10]"),
        (["a1", "a3"], "a1, a3"),
        (["x", "10"], "10, x"),
        ([], ""),
    ],
)
def test_names_are_written_as_the_shortest_pattern(names: list[str], text: str) -> None:
    assert patterns.compress_names(names) == text
    assert sorted(patterns.expand_pattern(text)) == sorted(names)


@given(st.sets(st.from_regex(r"[a-c]{0,2}[0-9]{0,3}", fullmatch=True).filter(bool), max_size=30))
def test_any_names_come_back_from_their_pattern(names: set[str]) -> None:
    assert set(patterns.expand_pattern(patterns.compress_names(names))) == names


def test_a_narrow_place_has_the_first_patterns_and_how_many_names_there_are() -> None:
    names = ["a1", "a2", "a3", "c1", "b7", "d1", "a1"]
    assert patterns.shorten_names(names, most=2) == "a[1-3], b7, … (6)"
    assert patterns.shorten_names(names, most=4) == "a[1-3], b7, c1, d1"
    assert patterns.shorten_names([], most=2) == ""
