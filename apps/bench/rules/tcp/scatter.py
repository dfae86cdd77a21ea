"""Whether rates differ by more than repetitions of one setting do, however few there are of each."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.bench import statistics

# Where nothing was repeated rates are taken to scatter by so much (stdev / mean), and to be known that well only.
UNKNOWN, UNKNOWN_FREE = 0.08, 5
# A rate that a full line holds steady scatters less than the others of its path: no cell is surer than this.
LEAST = 0.005


@dataclass(frozen=True)
class Scatter:
    """How far single rates of one setting lie apart (`share` of the mean), on so many degrees of freedom."""

    share: float
    free: int

    def error(self, *groups: Sequence[float], one_sided: bool = False, looked: int = 1) -> float:
        """Return half the 95 % interval of the logarithm of the ratio of two means (of one group: of its mean).

        One-sided it is how far one may seem above the other in one of twenty times, though it is not. Where so many
        were `looked` at, all of their intervals hold together as often (Bonferroni).
        """
        own = max(self.share, *(_share(group) for group in groups))
        share = 1 - (1 - statistics.CONFIDENCE) / looked / (1 if one_sided else 2)
        quantile = statistics.student_t_quantile(share, self.free)
        return quantile * own * math.sqrt(math.fsum(1 / len(group) for group in groups))

    def is_less(self, low: Sequence[float], high: Sequence[float], by: float = 0.0, looked: int = 1) -> bool:
        """Return whether the first mean is surely below the second, by more than this share; of so many looked at."""
        error = self.error(low, high, one_sided=True, looked=looked)
        return math.log(mean(high) / mean(low)) - error > -math.log1p(-by)

    def interval(self, group: Sequence[float], looked: int = 1) -> tuple[float, float]:
        """Return the interval of the mean of some rates that holds in 95 of 100, with those of all looked at."""
        width = math.exp(self.error(group, looked=looked))
        return mean(group) / width, mean(group) * width


def read_scatter(groups: Iterable[Sequence[float]]) -> Scatter:
    """Return the scatter of repetitions pooled over groups of rates, not all of them zero, each of one setting."""
    squares, free = 0.0, 0
    for group in groups:
        if len(group) > 1:
            squares += (_share(group) ** 2) * (len(group) - 1)
            free += len(group) - 1
    if not free:
        return Scatter(UNKNOWN, UNKNOWN_FREE)
    return Scatter(max(LEAST, math.sqrt(squares / free)), free)


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return math.fsum(values) / len(values)


def _share(group: Sequence[float]) -> float:
    """Return the standard deviation of three values or more as a share of their mean; 0 of fewer."""
    if len(group) < 2:
        return 0.0
    middle = mean(group)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in group) / (len(group) - 1)) / middle
