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
        slow = statistics.summarise([1 / value for value in values])
        low = 1 / slow.ci_high if slow.ci_high else None
        # Where the reciprocals may be zero, there is no end to the rate.
        high = 1 / slow.ci_low if slow.ci_low is not None and slow.ci_low > 0 else None
        return Centre(1 / slow.mean, low if high is not None else None, high)
    summary = statistics.summarise(values)
    return Centre(summary.mean, summary.ci_low, summary.ci_high)
