"""Sets of thousands of values are compared at once, with the figures that every pair of values would give."""

import math
import random

import pytest

from apps.bench import statistics
from apps.bench.statistics.differences import p_of_two
from apps.bench.statistics.ranks import least_p


def sets(count: int, shift: float) -> tuple[list[float], list[float]]:
    source = random.Random(7)
    return [source.gauss(100, 5) for _ in range(count)], [source.gauss(100 + shift, 5) for _ in range(count)]


def test_the_chance_of_superiority_counts_every_pair() -> None:
    first, second = sets(40, 3)
    wins = sum(1.0 if b > a else 0.5 if b == a else 0.0 for a in first for b in second)
    assert statistics.compare_two(first, second).superiority == pytest.approx(wins / 1600)


def test_ties_count_half() -> None:
    assert statistics.compare_two([1, 2, 3], [2, 2, 5]).superiority == pytest.approx(6 / 9)


@pytest.mark.parametrize("count", [101, 150, 300, 1000])
def test_the_shift_of_large_sets_is_that_of_all_pairs(count: int) -> None:
    first, second = sets(count, 3)
    comparison = statistics.compare_two(first, second)
    every = sorted(b - a for a in first for b in second)
    # The ranks of the interval (Hodges, Lehmann, 1963): of large normal sets that of Welch is as wide.
    left = math.floor(count**2 / 2 - 1.96 * math.sqrt(count**2 * (2 * count + 1) / 12))
    half = (every[-1 - left] - every[left]) / 2
    assert comparison.shift == pytest.approx(statistics.quantile(every, 0.5), abs=0.04 * half)
    assert comparison.shift_low < comparison.shift < comparison.shift_high
    assert comparison.shift_high - comparison.shift_low == pytest.approx(2 * half, rel=0.15)


def test_the_shift_of_large_sets_of_counts_is_a_count() -> None:
    first, second = ([float(round(value)) for value in values] for values in sets(400, 3))
    comparison = statistics.compare_two(first, second)
    assert comparison.shift == 3
    assert 2 < comparison.shift_low < 3 < comparison.shift_high < 4


def test_thousands_of_values_do_not_take_millions_of_pairs() -> None:
    first, second = sets(9000, 1)
    comparison = statistics.compare_two(first, second)
    assert comparison.p < 1e-20
    assert comparison.shift == pytest.approx(1, abs=0.3)


def test_modes_of_thousands_of_values_are_found() -> None:
    source = random.Random(3)
    values = [source.gauss(13, 1) for _ in range(2000)] + [source.gauss(80, 2) for _ in range(3000)]
    modes = statistics.find_modes(values)
    assert modes
    assert (len(modes.lower), len(modes.upper)) == (2000, 3000)


def test_the_least_p_is_that_of_sets_that_do_not_overlap() -> None:
    for n, m in ((3, 3), (4, 4), (3, 8)):
        first, second = list(range(n)), list(range(100, 100 + m))
        assert p_of_two(first, second) == pytest.approx(least_p(n, m))
