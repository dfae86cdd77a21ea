"""Summaries of samples: location, spread, and the interval of the mean."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.statistics.distributions import student_t_quantile

CONFIDENCE = 0.95


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


def mean_interval(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Return the mean of one or more finite values and its 95 % interval, as `summarise` does but nothing else."""
    n = len(values)
    mean = min(max(math.fsum(values) / n, min(values)), max(values))
    if n < 2:
        return mean, None, None
    stdev = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half_width = student_t_quantile((1 + CONFIDENCE) / 2, n - 1) * stdev / math.sqrt(n)
    return mean, mean - half_width, mean + half_width


def quantile(ordered: Sequence[float], probability: float) -> float:
    """Return the quantile of ascending values, interpolated linearly (type 7 of Hyndman and Fan, 1996)."""
    place = (len(ordered) - 1) * probability
    below = math.floor(place)
    if below == place:
        return ordered[below]
    low, high = ordered[below], ordered[below + 1]
    return min(low + (high - low) * (place - below), high)
