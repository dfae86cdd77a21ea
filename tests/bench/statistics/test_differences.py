"""Two sets and many: what differs, by how much, and how often chance says so."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench import statistics
from apps.bench.statistics import adjust_holm, compare_many, compare_two

A = [14.2, 15.1, 13.9, 16.0, 15.5]
B = [15.9, 16.4, 17.0, 15.8, 16.9, 16.1]
VALUES = st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=12)


def test_the_exact_p_is_scipys():
    assert compare_two(A, B).p == pytest.approx(0.017316017316017316, rel=1e-12)


def test_the_p_with_ties_is_scipys():
    found = compare_two([1, 2, 2, 3, 3, 4], [2, 3, 4, 4, 5, 5, 5])
    assert found.p == pytest.approx(0.04856302705403495, rel=1e-9)


def test_the_shift_and_the_ratio_are_of_the_second_against_the_first():
    found = compare_two([100, 102, 98, 101, 99], [200, 204, 196, 202, 198])
    assert found.shift == pytest.approx(100, abs=1)
    assert found.ratio == pytest.approx(2, rel=0.01)
    assert found.shift_low <= found.shift <= found.shift_high
    assert found.ratio_low <= found.ratio <= found.ratio_high
    assert found.superiority == 1
    assert found.effect == "large"


def test_equal_sets_do_not_differ():
    found = compare_two([5, 5, 5], [5, 5, 5])
    assert (found.p, found.superiority, found.shift, found.effect) == (1, 0.5, 0, "none")


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
        found = compare_two(first, second)
        covered += found.shift_low <= 5 <= found.shift_high
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
    found = compare_two([5e-324, 1e-300], [1.7e308, 1e300])
    assert found.ratio_high == pytest.approx(8.2e307, rel=0.01)
