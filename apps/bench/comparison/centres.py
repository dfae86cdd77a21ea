"""The centre of a set of figures with its interval: a mean of the right kind, or the median."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from apps.bench import statistics
from apps.bench.statistics import Mean


class Statistic(Enum):
    """What stands for a set of figures."""

    MEAN = "mean"
    MEDIAN = "median"


@dataclass(frozen=True)
class Centre:
    """A centre and its 95 % interval, in the unit of the figures; None where there are too few of them for one."""

    value: float
    low: float | None
    high: float | None


def centre_of(values: Sequence[float], statistic: Statistic, mean: Mean = Mean.ARITHMETIC) -> Centre:
    """Return the centre of one or more figures.

    The interval of a mean is Student's, that of a harmonic mean the same of the reciprocals turned over again; that
    of the median lies between two of the figures and needs six.
    """
    if statistic is Statistic.MEDIAN:
        found = statistics.quantile_interval(values) if len(values) > 1 else None
        median = statistics.quantile(sorted(values), 0.5)
        return Centre(median, found.low if found else None, found.high if found else None)
    if mean is Mean.HARMONIC and min(values) > 0:
        mean_time, low, high = statistics.mean_interval([1 / value for value in values])
        # Where the reciprocals may be zero, there is no end to the rate.
        has_end = low is not None and high is not None and low > 0
        return Centre(1 / mean_time, 1 / high if has_end and high else None, 1 / low if has_end and low else None)
    return Centre(*statistics.mean_interval(values))
