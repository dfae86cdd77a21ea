"""Summaries of samples: location, spread, and the interval of the mean."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.statistics.bounds import Within
from apps.bench.statistics.intervals import Interval, Method, mean_interval
from apps.bench.statistics.means import Mean
from apps.bench.statistics.quantiles import quantile


@dataclass(frozen=True)
class Summary(Within):
    """What is said of n values, all in the unit of the values.

    `mean` is of the kind that was asked for, `stdev` the sample's standard deviation (n - 1), `ci_low` and `ci_high`
    its interval, which holds it, `method` how it was found and `confidence` (0 to 1) what it has, None of equal
    values and of those too far apart; all are None for a single value. `q1` and `q3` are quartiles interpolated
    linearly (type 7 of Hyndman and Fan, 1996), `mad` is the median absolute deviation from the median (x 1.4826
    estimates a normal stdev).
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
    method: Method | None = None
    confidence: float | None = None

    @property
    def interval(self) -> Interval | None:
        """Return the interval of the mean with its method and confidence, None for a single value."""
        if self.ci_low is None or self.ci_high is None or self.method is None:
            return None
        return Interval(self.ci_low, self.ci_high, self.confidence, self.method)

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
        """Return how far the mean's interval reaches at most over |mean|; None for one value, or a mean of zero."""
        if self.ci_low is None or self.ci_high is None or not self.mean:
            return None
        return max(self.ci_high - self.mean, self.mean - self.ci_low) / abs(self.mean)


def summarise(values: Sequence[float], kind: Mean = Mean.ARITHMETIC) -> Summary:
    """Return the summary of one or more finite values; ValueError for none, or for one that is not finite.

    The interval is that of `mean_interval`.
    """
    if not values:
        raise ValueError("there are no values to summarise")
    if not all(map(math.isfinite, values)):
        raise ValueError("values to summarise must be finite")
    ordered = sorted(values)
    n = len(ordered)
    minimum, maximum = ordered[0], ordered[-1]
    # Rounding may lead a mean of equal values astray by the last digit, and then their spread from zero.
    middle = min(max(math.fsum(ordered) / n, minimum), maximum)
    median = quantile(ordered, 0.5)
    stdev = math.sqrt(math.fsum((value - middle) ** 2 for value in ordered) / (n - 1)) if n > 1 else None
    mean, interval = mean_interval(values, kind)
    if interval is None and n > 1:
        # Rates so far apart that a time may be zero tell no upper end: all that they span, without a confidence.
        interval = Interval(minimum, maximum, None, Method.RANGE)
    return Summary(
        n=n,
        mean=mean,
        median=median,
        stdev=stdev,
        minimum=minimum,
        maximum=maximum,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        method=interval.method if interval else None,
        confidence=interval.confidence if interval else None,
        q1=quantile(ordered, 0.25),
        q3=quantile(ordered, 0.75),
        mad=quantile(sorted(abs(value - median) for value in ordered), 0.5),
    )
