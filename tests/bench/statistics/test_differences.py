"""Two sets and many: what differs, by how much, and how often chance says so."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench import statistics
from apps.bench.statistics import adjust_holm, compare_many, compare_two
from apps.bench.statistics.differences import p_of_two
from benchmarks.truth.worlds.noise import Noise, draw

A = [14.2, 15.1, 13.9, 16.0, 15.5]
B = [15.9, 16.4, 17.0, 15.8, 16.9, 16.1]
VALUES = st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=12)


def test_the_exact_p_is_scipys():
    assert p_of_two(A, B) == pytest.approx(0.017316017316017316, rel=1e-12)


def test_the_p_with_ties_is_scipys():
    assert p_of_two([1, 2, 2, 3, 3, 4], [2, 3, 4, 4, 5, 5, 5]) == pytest.approx(0.04856302705403495, rel=1e-9)


def test_the_shift_and_the_ratio_are_of_the_second_against_the_first():
    comparison = compare_two([100, 102, 98, 101, 99], [200, 204, 196, 202, 198])
    assert comparison.shift == pytest.approx(100, abs=1)
    assert comparison.ratio == pytest.approx(2, rel=0.01)
    assert comparison.shift_low <= comparison.shift <= comparison.shift_high
    assert comparison.ratio_low <= comparison.ratio <= comparison.ratio_high
    assert comparison.superiority == 1
    assert comparison.effect == "large"


def test_equal_sets_do_not_differ():
    comparison = compare_two([5, 5, 5], [5, 5, 5])
    assert (comparison.p, comparison.superiority, comparison.shift, comparison.effect) == (1, 0.5, 0, "none")


def test_a_ratio_needs_values_above_zero():
    assert compare_two([0, 1, 2], [1, 2, 3]).ratio is None


@given(VALUES, VALUES)
def test_it_is_the_same_from_the_other_side(first, second):
    one, other = compare_two(first, second), compare_two(second, first)
    assert one.p == pytest.approx(other.p, abs=1e-12)
    assert one.superiority == pytest.approx(1 - other.superiority)
    assert one.shift == pytest.approx(-other.shift)
    assert 0 <= one.p <= 1


def test_equals_are_called_different_no_more_often_than_stated():
    chance = random.Random(11)
    alarms = 0
    for _round in range(2000):
        first, second = ([chance.lognormvariate(0, 0.2) for _value in range(8)] for _set in range(2))
        alarms += compare_two(first, second).p < 0.05
    # 5 % of 2,000 is 100, with a deviation of 10.
    assert alarms <= 130


def test_the_interval_of_the_shift_covers_at_its_nominal_rate():
    chance = random.Random(5)
    covered = 0
    for _round in range(1500):
        first = [chance.gauss(100, 5) for _value in range(8)]
        second = [chance.gauss(105, 5) for _value in range(8)]
        comparison = compare_two(first, second)
        covered += comparison.shift_low <= 5 <= comparison.shift_high
    assert 0.93 <= covered / 1500 <= 0.975


def test_many_groups_are_scipys():
    p, effect = compare_many([[1, 2, 3, 4], [2, 3, 5, 9], [8, 9, 9, 10]])
    assert p == pytest.approx(0.034096128714499324, rel=1e-9)
    assert effect == pytest.approx(6.757142857142862 / 11)


def test_many_equal_groups_do_not_differ():
    assert compare_many([[1, 1], [1, 1], [1]]) == (1.0, 0.0)


def test_one_group_cannot_be_compared():
    with pytest.raises(ValueError, match="two groups"):
        compare_many([[1, 2, 3], []])


def test_many_tests_are_corrected_for():
    assert adjust_holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert adjust_holm([]) == []
    assert adjust_holm([0.9, 0.8]) == [1.0, 1.0]


def test_corrected_tests_of_equals_raise_one_alarm_in_twenty_at_most():
    chance = random.Random(2)
    alarms = 0
    for _round in range(400):
        ps = [
            compare_two([chance.random() for _v in range(6)], [chance.random() for _v in range(6)]).p
            for _test in range(6)
        ]
        alarms += min(statistics.adjust_holm(ps)) < 0.05
    assert alarms <= 33


def test_a_ratio_beyond_all_numbers_is_the_largest():
    comparison = compare_two([5e-324, 1e-300], [1.7e308, 1e300])
    assert comparison.ratio_high == pytest.approx(8.2e307, rel=0.01)
    assert math.isfinite(comparison.shift_low) and math.isfinite(comparison.shift_high)


# Of how many figures each set is, how far the second scatters (of the first's 4 %), and what is printed.
SIZES = [(2, 2), (2, 5), (3, 3), (3, 10), (10, 3), (4, 4), (5, 5), (8, 8), (10, 10)]


def held(kind: str, n: int, m: int, scatter: float, rounds: int = 700) -> tuple[float, float]:
    """Return how many of 100 intervals of the ratio hold the truth, and the least percent that is printed."""
    chance = random.Random(f"{kind} {n} {m} {scatter}")
    hits, printed = 0, 1.0
    for _turn in range(rounds):
        first = draw(Noise(kind, 0.04), n, chance)[0]
        second = [1.1 * (1 + (value - 1) * scatter) for value in draw(Noise(kind, 0.04), m, chance)[0]]
        comparison = compare_two(first, second)
        hits += comparison.ratio_low <= 1.1 <= comparison.ratio_high
        printed = min(printed, comparison.confidence)
    return 100 * hits / rounds, 100 * printed


@pytest.mark.parametrize("scatter", [1.0, 0.2])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_the_interval_of_a_ratio_holds_as_often_as_it_says(n: int, m: int, scatter: float) -> None:
    found, printed = held("normal", n, m, scatter)
    # A line that is full scatters less than what is held against it. Two standard deviations of the count are two.
    assert found >= printed - 4
    # Nor is what is printed far below what holds, but where one set has three figures and nearly all of the scatter.
    assert found <= printed + (5 if min(n, m) > 2 else 8)


@pytest.mark.parametrize(("n", "m"), SIZES[1:])
def test_two_modes_make_no_ratio_surer_than_it_is(n: int, m: int) -> None:
    found, printed = held("bimodal", n, m, 1.0)
    assert found >= printed - 4


@pytest.mark.parametrize(("n", "m"), [(10, 10), (10, 24), (30, 30)])
def test_neighbours_that_are_alike_make_no_ratio_surer_than_it_is(n: int, m: int) -> None:
    found, _printed = held("autocorrelated", n, m, 1.0, 500)
    # As if they were independent it would be 75.
    assert found >= 90


def test_what_is_printed_is_what_few_figures_can_give() -> None:
    def printed(*sets: list[float]) -> tuple[str, str]:
        comparison = compare_two(*sets)
        return statistics.percent_of(comparison.confidence), str(comparison.message)

    assert printed([1.0, 1.1], [2.0, 2.2]) == ("90", "90 % by Welch's t")
    assert printed([1.0, 1.1, 1.2], [2.0, 2.1, 2.2]) == ("95", "95 % by Welch's t")
    # Equal figures tell little of their scatter.
    assert printed([1.0, 1.0], [2.0, 2.1]) == ("50", "50 %: all figures of a set are equal")
    assert printed([1.0] * 3, [2.0] * 3) == ("75", "75 %: all figures of a set are equal")
    modes = [10.0, 10.1, 10.2, 10.3, 80.0, 80.1, 80.2, 80.3]
    assert printed(modes, [20.0, 21.0, 22.0]) == ("95", "95 % by ranks: there are two modes")


def test_a_single_figure_gives_no_interval():
    for sets in (([1.0], [2.0]), ([1.0], [2.0, 2.1, 2.2])):
        comparison = compare_two(*sets)
        assert (comparison.ratio_low, comparison.ratio_high, comparison.shift_low, comparison.confidence) == (
            None,
            None,
            None,
            None,
        )
        assert comparison.ratio is not None
