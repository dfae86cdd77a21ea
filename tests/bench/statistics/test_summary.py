"""Summaries: Student's t to the digit, quartiles, spread, and an interval that covers as often as it says."""

import math
import random
import statistics as standard

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench import statistics
from apps.bench.statistics.leaning import FEW

VALUES = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40)


# Two-sided 95 % points, as printed in tables of Student's distribution (NIST/SEMATECH e-Handbook, 1.3.6.7.2).
@pytest.mark.parametrize(
    ("degrees", "value"),
    [
        (1, 12.706205),
        (2, 4.302653),
        (3, 3.182446),
        (4, 2.776445),
        (5, 2.570582),
        (6, 2.446912),
        (7, 2.364624),
        (8, 2.306004),
        (9, 2.262157),
        (10, 2.228139),
        (15, 2.131450),
        (19, 2.093024),
        (20, 2.085963),
        (29, 2.045230),
        (30, 2.042272),
        (60, 2.000298),
        (100, 1.983972),
        (120, 1.979930),
        (1000, 1.962339),
    ],
)
def test_the_t_quantile_agrees_with_the_tables(degrees, value):
    assert statistics.student_t_quantile(0.975, degrees) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("probability", [0.5, 0.6, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9995, 0.3, 0.025, 1e-6])
def test_the_t_quantile_agrees_with_the_closed_forms(probability):
    deviation = 2 * probability - 1
    alpha = 4 * probability * (1 - probability)
    cosine = math.cos(math.acos(math.sqrt(alpha)) / 3) / math.sqrt(alpha)
    closed = {
        1: math.tan(math.pi * (probability - 0.5)),
        2: deviation * math.sqrt(2 / alpha),
        4: math.copysign(2 * math.sqrt(max(cosine - 1, 0)), deviation),
    }
    for degrees, value in closed.items():
        assert statistics.student_t_quantile(probability, degrees) == pytest.approx(value, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("degrees", [1, 2, 3.5, 7, 40, 300, 1e5])
@pytest.mark.parametrize("probability", [0.6, 0.975, 0.999])
def test_the_density_up_to_the_quantile_integrates_to_its_probability(degrees, probability):
    quantile = statistics.student_t_quantile(probability, degrees)
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    steps = 20_000 if quantile > 50 else 2_000
    width = quantile / steps
    heights = [(1 + (index * width) ** 2 / degrees) ** (-(degrees + 1) / 2) for index in range(steps + 1)]
    # Simpson's rule.
    area = scale * width / 3 * (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))
    assert 0.5 + area == pytest.approx(probability, abs=1e-8)


def test_the_t_quantile_becomes_the_normal_one():
    normal = standard.NormalDist().inv_cdf(0.975)
    degrees = 10**6
    # The first term of its expansion for many degrees of freedom (Abramowitz, Stegun, 26.7.5).
    expected = normal + (normal**3 + normal) / (4 * degrees)
    assert statistics.student_t_quantile(0.975, degrees) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("probability", "degrees"), [(0, 5), (1, 5), (math.nan, 5), (0.975, 0), (0.975, 0.5)])
def test_the_t_quantile_refuses_what_has_none(probability, degrees):
    with pytest.raises(ValueError, match="a probability between 0 and 1, and at least 1 degree"):
        statistics.student_t_quantile(probability, degrees)


def test_it_summarises_values():
    summary = statistics.summarise([980.0, 985.0, 990.0, 975.0, 970.0])
    assert summary.n == 5
    assert summary.mean == 980
    assert summary.median == 980
    assert summary.stdev == pytest.approx(math.sqrt(62.5))
    assert (summary.minimum, summary.maximum) == (970, 990)
    assert (summary.q1, summary.q3, summary.iqr) == (975, 985, 10)
    assert summary.mad == 5
    assert summary.cv == pytest.approx(math.sqrt(62.5) / 980)
    # Five without a lean: Student's, and by how much the lean that they may hide makes it wider.
    half_width = FEW[5] * 2.776445105 * math.sqrt(62.5 / 5)
    assert summary.ci_low == pytest.approx(980 - half_width, abs=1e-6)
    assert summary.ci_high == pytest.approx(980 + half_width, abs=1e-6)


def test_quartiles_are_interpolated_between_values():
    summary = statistics.summarise([4, 1, 3, 2])
    assert (summary.q1, summary.median, summary.q3, summary.mad) == (1.75, 2.5, 3.25, 1.0)


def test_the_interval_of_two_values_is_as_wide_as_it_must_be():
    summary = statistics.summarise([1.0, 2.0])
    assert summary.ci_high - summary.mean == pytest.approx(12.706204736 * 0.5, rel=1e-9)


def test_a_single_value_has_no_spread_and_no_interval():
    summary = statistics.summarise([5.0])
    assert (summary.n, summary.mean, summary.median, summary.q1, summary.q3) == (1, 5, 5, 5, 5)
    assert (summary.stdev, summary.ci_low, summary.ci_high, summary.cv) == (None, None, None, None)
    assert (summary.mad, summary.iqr) == (0, 0)


def test_equal_values_have_no_spread_at_all():
    summary = statistics.summarise([0.1] * 7)
    assert (summary.mean, summary.stdev, summary.cv) == (0.1, 0, 0)


def test_a_mean_of_zero_has_no_coefficient_of_variation():
    assert statistics.summarise([-1.0, 1.0]).cv is None


def test_it_refuses_no_values():
    with pytest.raises(ValueError, match="no values to summarise"):
        statistics.summarise([])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_it_refuses_values_that_are_not_finite(value):
    with pytest.raises(ValueError, match="must be finite"):
        statistics.summarise([1.0, value])


def test_the_interval_covers_the_true_mean_as_often_as_it_says():
    generator = random.Random(20261121)
    trials = 4000
    for n in (2, 8, 12):
        covered = 0
        for _trial in range(trials):
            summary = statistics.summarise([generator.gauss(100, 7) for _value in range(n)])
            covered += summary.ci_low <= 100 <= summary.ci_high
        # Four standard deviations of a share of 0.95 among the trials.
        assert covered / trials == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / trials))


@given(VALUES)
def test_it_agrees_with_the_standard_library(values):
    summary = statistics.summarise(values)
    assert summary.mean == pytest.approx(standard.fmean(values), rel=1e-12, abs=1e-6)
    assert summary.median == pytest.approx(standard.median(values), rel=1e-12, abs=1e-300)
    if len(values) > 1:
        assert summary.stdev == pytest.approx(standard.stdev(values), rel=1e-9, abs=1e-6)
        q1, _median, q3 = standard.quantiles(values, n=4, method="inclusive")
        assert (summary.q1, summary.q3) == pytest.approx((q1, q3), rel=1e-9, abs=1e-6)


@given(VALUES)
def test_its_figures_stand_in_order(values):
    summary = statistics.summarise(values)
    assert summary.minimum <= summary.q1 <= summary.median <= summary.q3 <= summary.maximum
    assert summary.minimum <= summary.mean <= summary.maximum
    assert summary.mad >= 0
    if len(values) > 1:
        assert summary.ci_low <= summary.mean <= summary.ci_high


@given(VALUES.filter(lambda values: len(values) > 1), st.randoms())
def test_the_order_of_the_values_does_not_matter(values, generator):
    shuffled = values[:]
    generator.shuffle(shuffled)
    assert statistics.summarise(shuffled) == statistics.summarise(values)


@pytest.mark.parametrize("kind", statistics.Mean)
@pytest.mark.parametrize("values", [[3.0], [0.1] * 7, [4.0, 1.0, 3.0], [0.0, 2.0], [-1.0, 5.0], [2e-8, 9e8] * 4])
def test_who_wants_no_interval_has_the_same_mean(values, kind):
    assert statistics.middle_of(values, kind) == statistics.summarise(values, kind).mean


def test_it_says_which_interval_it_is_and_what_confidence_it_has():
    student = statistics.summarise([1.0, 2.0, 3.0]).interval
    assert (student.method, str(student.message)) == (
        statistics.Method.STUDENT,
        "95 % by Student's t widened, if the scatter is even",
    )
    equal = statistics.summarise([4.0, 4.0, 4.0]).interval
    assert (equal.low, equal.high, equal.confidence) == (pytest.approx(3.995), pytest.approx(4.005), None)
    assert "%" not in str(equal.message)
    modes = statistics.summarise([13.0, 13.1, 13.2, 13.0, 80.0, 80.2, 80.1, 80.3]).interval
    assert modes.method is statistics.Method.BOOTSTRAP
    assert statistics.summarise([4.0]).interval is None


@pytest.mark.parametrize("n", [2, 3, 8, 28, 200])
@pytest.mark.parametrize("value", [122.012e6, 9.9e8, 4.0, 0.00123, 989.66])
@pytest.mark.parametrize("kind", statistics.Mean)
def test_equal_figures_are_known_no_better_than_they_are_rounded(n, value, kind):
    summary = statistics.summarise([value] * n, kind)
    assert summary.confidence is None
    assert summary.ci_low < value < summary.ci_high
    # Half a unit of the third digit at most, of the fourth at least.
    assert 0.9e-4 * value / 2 <= summary.ci_high - summary.ci_low <= 1.1e-2 * value


@pytest.mark.parametrize("confidence", [0.5, 0.75, 0.95, 1 - 2**-26, 1 - 2**-27, 1 - 1e-12])
def test_no_confidence_is_said_to_be_all_or_more_than_it_is(confidence):
    percent = int(statistics.percent_of(confidence))
    assert percent < 100
    assert percent / 100 <= confidence + 1e-9
