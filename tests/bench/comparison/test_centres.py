"""What stands for a set of figures: the right mean or the median, each with its interval."""

import random

import pytest

from apps.bench import statistics
from apps.bench.comparison import Statistic, centre_of
from apps.bench.statistics import Mean

MEAN, MEDIAN = Statistic.MEAN, Statistic.MEDIAN


def test_the_mean_has_students_interval() -> None:
    values = [10.0, 11.0, 12.0]
    summary = statistics.summarise(values)
    centre = centre_of(values, MEAN)
    assert (centre.value, centre.low, centre.high) == (11, summary.ci_low, summary.ci_high)


def test_rates_of_equal_work_have_a_harmonic_mean_within_its_interval() -> None:
    centre = centre_of([50.0, 100.0], MEAN, Mean.HARMONIC)
    assert centre.value == pytest.approx(2 / (1 / 50 + 1 / 100))
    centre = centre_of([90.0, 100.0, 110.0, 105.0], MEAN, Mean.HARMONIC)
    assert centre.low < centre.value < centre.high


def test_the_harmonic_interval_covers_at_its_rate() -> None:
    source = random.Random(5)
    truth, held = 100.0, 0
    for _ in range(400):
        # Times are normal about that of the true rate.
        values = [1 / source.gauss(1 / truth, 0.05 / truth) for _ in range(6)]
        centre = centre_of(values, MEAN, Mean.HARMONIC)
        held += centre.low <= truth <= centre.high
    assert 0.92 <= held / 400 <= 0.98


def test_a_rate_whose_interval_has_no_end_has_none() -> None:
    centre = centre_of([1.0, 1000.0], MEAN, Mean.HARMONIC)
    assert (centre.low, centre.high) == (None, None)


def test_a_zero_among_rates_has_no_harmonic_mean() -> None:
    assert centre_of([0.0, 10.0], MEAN, Mean.HARMONIC).value == 5


def test_the_median_has_an_interval_from_six_figures_on() -> None:
    assert centre_of([1.0, 2, 3, 4, 5], MEDIAN).low is None
    centre = centre_of([1.0, 2, 3, 4, 5, 6], MEDIAN)
    assert (centre.value, centre.low, centre.high) == (3.5, 1, 6)


@pytest.mark.parametrize("statistic", [MEAN, MEDIAN])
def test_a_single_figure_has_no_interval(statistic: Statistic) -> None:
    centre = centre_of([7.0], statistic)
    assert (centre.value, centre.low, centre.high) == (7, None, None)
