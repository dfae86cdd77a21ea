"""Intervals that suppose no distribution, on data whose truth is known."""

import math
import random

import pytest

from apps.bench.statistics import bootstrap_interval, quantile_interval


def mean(values):
    return math.fsum(values) / len(values)


def coverage(interval, truth, draw, rounds):
    intervals = [interval(draw()) for _round in range(rounds)]
    return sum(one.low <= truth <= one.high for one in intervals) / rounds


def test_the_median_of_six_lies_between_the_least_and_the_most():
    interval = quantile_interval([3, 1, 2, 6, 5, 4])
    assert (interval.low, interval.high) == (1, 6)
    assert interval.confidence == pytest.approx(0.96875)


@pytest.mark.parametrize("count", range(6))
def test_fewer_than_six_give_no_interval_of_the_median(count):
    assert quantile_interval([1.0] * count) is None


def test_a_high_quantile_needs_many_values():
    values = list(range(1, 201))
    assert quantile_interval(values[:50], 0.99) is None
    interval = quantile_interval(values, 0.95)
    assert 180 < interval.low < 191 < interval.high <= 200


@pytest.mark.parametrize("count", [6, 10, 25])
def test_the_interval_of_the_median_covers_as_often_as_it_says(count):
    chance = random.Random(count)
    rate = coverage(quantile_interval, 1.0, lambda: [chance.lognormvariate(0, 0.6) for _v in range(count)], 3000)
    stated = quantile_interval(list(range(count))).confidence
    assert stated >= 0.95
    assert rate == pytest.approx(stated, abs=0.012)


def test_the_bootstrap_covers_at_its_nominal_rate():
    chance = random.Random(4)
    rate = coverage(
        lambda values: bootstrap_interval(values, mean, resamples=500),
        10.0,
        lambda: [chance.gauss(10, 2) for _v in range(30)],
        400,
    )
    assert 0.92 <= rate <= 0.975


def test_the_bootstrap_leans_with_the_skew():
    chance = random.Random(8)
    values = [chance.lognormvariate(0, 1) for _v in range(40)]
    interval = bootstrap_interval(values, mean)
    assert interval.high - mean(values) > mean(values) - interval.low > 0


def test_the_bootstrap_is_repeatable():
    values = [1.0, 2.0, 4.0, 8.0, 9.0]
    assert bootstrap_interval(values, mean) == bootstrap_interval(values, mean)
    assert bootstrap_interval(values, mean) != bootstrap_interval(values, mean, seed=2)


def test_equal_values_have_an_interval_of_no_width():
    interval = bootstrap_interval([3.0] * 6, mean)
    assert (interval.low, interval.high) == (3.0, 3.0)


def test_too_few_values_give_no_bootstrap():
    assert bootstrap_interval([1.0, 2.0, 3.0, 4.0], mean) is None
