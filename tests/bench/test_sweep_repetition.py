"""How often a point is repeated."""

import random

import pytest

from apps.bench import statistics
from apps.bench.sweep.repetition import Repetition, half_width, judge_point

RULE = Repetition(precision=0.03, most=20)


def test_values_within_the_precision_have_converged():
    verdict = judge_point([100.0, 100.5, 99.5, 100.2], 4, RULE)
    assert verdict.converged
    assert verdict.missing == 0
    assert verdict.half_width <= 0.03


def test_the_share_is_that_of_the_interval_of_the_mean():
    values = [100.0, 110.0, 90.0]
    summary = statistics.summarise(values)
    assert half_width(values) == pytest.approx((summary.ci_high - summary.ci_low) / 2 / summary.mean)


def test_scattered_values_ask_for_more_but_at_most_for_twice_as_many():
    verdict = judge_point([100.0, 130.0, 70.0], 3, RULE)
    assert not verdict.converged
    assert verdict.missing == 3


def test_values_a_little_too_scattered_ask_for_a_few():
    values = [100.0, 103.0, 97.0, 102.0, 98.0, 100.0]
    assert half_width(values) == pytest.approx(0.0263, abs=0.001)
    assert judge_point(values, 6, Repetition(0.02, 20)).missing == 5


def test_the_cap_ends_it_without_convergence():
    verdict = judge_point([100.0, 130.0, 70.0], 20, RULE)
    assert (verdict.missing, verdict.converged) == (0, False)
    assert judge_point([100.0, 130.0, 70.0], 19, RULE).missing == 1


def test_failed_tries_count_against_the_cap():
    assert judge_point([], 20, RULE).missing == 0
    assert judge_point([], 2, RULE).missing == 3


def test_two_values_are_too_few_however_close():
    assert judge_point([100.0, 100.0], 2, RULE).missing == 1


def test_equal_values_have_converged():
    assert judge_point([5.0, 5.0, 5.0], 3, RULE).converged
    assert judge_point([0.0, 0.0, 0.0], 3, RULE).converged


def test_values_around_zero_never_converge_and_end_at_the_cap():
    verdict = judge_point([1.0, -1.0, 0.0], 3, RULE)
    assert verdict.half_width is None
    assert verdict.missing == 3
    assert judge_point([1.0, -1.0, 0.0], 20, RULE).missing == 0


@pytest.mark.parametrize(("cv", "expected"), [(0.01, 4), (0.05, 20)])
def test_the_number_it_ends_at_is_that_of_the_formula(cv, expected):
    # n = (t s / (e mean))²: some 3 for 1 % and 13 for 5 % of spread, at a half-width of 3 %.
    chance = random.Random(7)
    values = []
    for _step in range(100):
        verdict = judge_point(values, len(values), RULE)
        if not verdict.missing:
            break
        values += [chance.gauss(100, 100 * cv) for _value in range(verdict.missing)]
    assert 3 <= len(values) <= expected
