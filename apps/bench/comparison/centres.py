"""The centre of a set of figures with its interval: a mean of the right kind, or the median."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from apps.bench import statistics
from apps.bench.statistics import Evenness, Interval, Mean, Method
from apps.bench.statistics.bounds import Within


class Statistic(Enum):
    """What stands for a set of figures."""

    MEAN = "mean"
    MEDIAN = "median"


@dataclass(frozen=True)
class Centre(Within):
    """A centre and its interval, in the unit of the figures; None where there are too few of them, or all are equal.

    `confidence` (0 to 1; None: not known) is what the interval has, and `method` how it was found.
    """

    value: float
    low: float | None
    high: float | None
    confidence: float | None = None
    method: Method | None = None

    @property
    def interval(self) -> Interval | None:
        """Return the interval, None where there is none."""
        if self.low is None or self.high is None or self.method is None:
            return None
        return Interval(self.low, self.high, self.confidence, self.method)


def centre_of(
    values: Sequence[float],
    statistic: Statistic,
    mean: Mean = Mean.ARITHMETIC,
    evenness: Evenness = Evenness.EVEN,
) -> Centre:
    """Return the centre of one or more figures; `evenness` is how those of the whole table scatter.

    The interval of a mean is that of `statistics.mean_interval`; that of the median lies between two of the figures
    and needs six.
    """
    if statistic is Statistic.MEDIAN:
        interval = statistics.quantile_interval(values) if len(values) > 1 else None
        return _centre(statistics.quantile(sorted(values), 0.5), interval)
    return _centre(*statistics.mean_interval(values, mean, evenness))


def _centre(value: float, interval: Interval | None) -> Centre:
    if interval is None:
        return Centre(value, None, None)
    if interval.method is Method.EQUAL:
        # That figures are equal is no measure of their scatter: what rounding leaves would be taken for one.
        return Centre(value, None, None, None, Method.EQUAL)
    return Centre(value, interval.low, interval.high, interval.confidence, interval.method)
