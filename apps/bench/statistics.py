"""Summaries of samples: location, spread, and the interval of the mean."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95

_MOST_TERMS = 100_000
_PRECISION = 1e-15


@dataclass(frozen=True)
class Summary:
    """What is said of n values, all in the unit of the values.

    `stdev` is the sample's standard deviation (n - 1), `ci_low` and `ci_high` the 95 % interval of the mean; all
    three are None for a single value. `q1` and `q3` are quartiles interpolated linearly (type 7 of Hyndman and
    Fan, 1996), `mad` is the median absolute deviation from the median (x 1.4826 estimates a normal stdev).
    """

    n: int
    mean: float
    median: float
    stdev: float | None
    minimum: float
    maximum: float
    ci_low: float | None
    ci_high: float | None
    q1: float
    q3: float
    mad: float

    @property
    def iqr(self) -> float:
        """Return the distance between the quartiles."""
        return self.q3 - self.q1

    @property
    def cv(self) -> float | None:
        """Return the coefficient of variation, stdev / |mean|; None for a single value or a mean of zero."""
        return self.stdev / abs(self.mean) if self.stdev is not None and self.mean else None

    @property
    def precision(self) -> float | None:
        """Return half the width of the mean's interval over |mean|; None for a single value or a mean of zero."""
        return (self.ci_high - self.mean) / abs(self.mean) if self.ci_high is not None and self.mean else None


def summarise(values: Sequence[float]) -> Summary:
    """Return the summary of one or more finite values; ValueError for none, or for one that is not finite.

    The interval is mean ± t s / √n with the 0.975 quantile of Student's t (1908) on n - 1 degrees of freedom: it
    supposes independent values with a roughly normal mean.
    """
    if not values:
        raise ValueError("there are no values to summarise")
    if not all(map(math.isfinite, values)):
        raise ValueError("values to summarise must be finite")
    ordered = sorted(values)
    n = len(ordered)
    minimum, maximum = ordered[0], ordered[-1]
    # Rounding may lead a mean of equal values astray by the last digit, and then their spread from zero.
    mean = min(max(math.fsum(ordered) / n, minimum), maximum)
    median = quantile(ordered, 0.5)
    stdev = half_width = None
    if n > 1:
        stdev = math.sqrt(math.fsum((value - mean) ** 2 for value in ordered) / (n - 1))
        half_width = student_t_quantile((1 + CONFIDENCE) / 2, n - 1) * stdev / math.sqrt(n)
    return Summary(
        n=n,
        mean=mean,
        median=median,
        stdev=stdev,
        minimum=minimum,
        maximum=maximum,
        ci_low=None if half_width is None else mean - half_width,
        ci_high=None if half_width is None else mean + half_width,
        q1=quantile(ordered, 0.25),
        q3=quantile(ordered, 0.75),
        mad=quantile(sorted(abs(value - median) for value in ordered), 0.5),
    )


def quantile(ordered: Sequence[float], probability: float) -> float:
    """Return the quantile of ascending values, interpolated linearly (type 7 of Hyndman and Fan, 1996)."""
    place = (len(ordered) - 1) * probability
    below = math.floor(place)
    if below == place:
        return ordered[below]
    low, high = ordered[below], ordered[below + 1]
    return min(low + (high - low) * (place - below), high)


@functools.lru_cache(maxsize=1024)
def student_t_quantile(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t distribution, to about 1e-9 of its value.

    Found by bisection on the tail, itself a regularised incomplete beta function: P(T > t) = I_x(df/2, 1/2) / 2
    with x = df / (df + t²) (Abramowitz, Stegun, 26.7.1). ValueError unless 0 < probability < 1 and degrees >= 1.
    """
    if not (0 < probability < 1 and degrees >= 1):
        raise ValueError("a quantile needs a probability between 0 and 1, and at least 1 degree of freedom")
    if probability < 0.5:
        return -student_t_quantile(1 - probability, degrees)
    if probability == 0.5:
        return 0.0
    tail = 1 - probability
    low, high = 0.0, 1.0
    while _upper_tail(high, degrees) > tail:
        low, high = high, high * 2
    while high - low > _PRECISION * high and low < (middle := (low + high) / 2) < high:
        if _upper_tail(middle, degrees) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _upper_tail(t: float, degrees: float) -> float:
    """Return P(T > t) for t >= 0."""
    square = t * t
    return _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square)) / 2


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b); `rest` is 1 - x without its rounding error."""
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    # Either fraction is right; the one chosen converges fast (Press et al., Numerical Recipes, 6.4).
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, rest) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of I_x(a, b) (Abramowitz, Stegun, 26.5.8) by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        previous = value
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            value *= c * d
        if abs(value - previous) <= _PRECISION * abs(value):
            break
    return value
