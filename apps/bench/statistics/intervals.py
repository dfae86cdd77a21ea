"""Intervals that suppose no distribution: of quantiles by order, of anything by the bootstrap."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from apps.bench.statistics.summary import CONFIDENCE

RESAMPLES = 2000
# Fewer values than this repeat themselves so often that their resamples say little.
LEAST_FOR_BOOTSTRAP = 5
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, with the confidence it really has (0 to 1)."""

    low: float
    high: float
    confidence: float


def quantile_interval(
    values: Sequence[float], probability: float = 0.5, confidence: float = CONFIDENCE
) -> Interval | None:
    """Return the interval of a quantile between two of the values, None where there are too few for it.

    The number of values below the quantile is binomial, whatever their distribution: x(j) and x(k) hold it with
    P = F(k - 1) - F(j - 1) (Le Boudec, Performance Evaluation, 2010, theorem 2.1). The median needs six values at
    95 %. The interval is the shortest in ranks that leaves no more than half of the rest on either side.
    """
    ordered = sorted(values)
    n = len(ordered)
    rest = (1 - confidence) / 2
    cumulative = _binomial(n, probability)
    low = max((j for j in range(1, n + 1) if cumulative[j - 1] <= rest), default=None)
    high = min((k for k in range(1, n + 1) if 1 - cumulative[k - 1] <= rest), default=None)
    if low is None or high is None or low >= high:
        return None
    return Interval(ordered[low - 1], ordered[high - 1], cumulative[high - 1] - cumulative[low - 1])


def bootstrap_interval(
    values: Sequence[float],
    statistic: Callable[[Sequence[float]], float],
    confidence: float = CONFIDENCE,
    *,
    resamples: int = RESAMPLES,
    seed: int = 1,
) -> Interval | None:
    """Return the bias-corrected and accelerated bootstrap interval of a statistic; None for fewer than five values.

    Efron, Better Bootstrap Confidence Intervals (1987): the share of resamples below the estimate corrects the bias,
    the skewness of the jackknife the acceleration. The seed makes it repeatable.
    """
    n = len(values)
    if n < LEAST_FOR_BOOTSTRAP:
        return None
    estimate = statistic(values)
    generator = random.Random(seed)  # noqa: S311 - resamples to repeat, not a secret
    drawn = sorted(statistic(generator.choices(values, k=n)) for _resample in range(resamples))
    below = sum(value < estimate for value in drawn) + sum(value == estimate for value in drawn) / 2
    if not 0 < below < resamples:
        return Interval(drawn[0], drawn[-1], confidence)
    bias = _NORMAL.inv_cdf(below / resamples)
    acceleration = _acceleration(values, statistic)

    def at(probability: float) -> float:
        z = bias + _NORMAL.inv_cdf(probability)
        place = _NORMAL.cdf(bias + z / (1 - acceleration * z))
        return drawn[min(resamples - 1, max(0, math.floor(place * (resamples + 1)) - 1))]

    return Interval(at((1 - confidence) / 2), at((1 + confidence) / 2), confidence)


def _acceleration(values: Sequence[float], statistic: Callable[[Sequence[float]], float]) -> float:
    """Return a sixth of the skewness of the statistic when each value in turn is left out."""
    left_out = [statistic([*values[:place], *values[place + 1 :]]) for place in range(len(values))]
    mean = math.fsum(left_out) / len(left_out)
    squares = math.fsum((mean - value) ** 2 for value in left_out)
    return math.fsum((mean - value) ** 3 for value in left_out) / (6 * squares**1.5) if squares > 0 else 0.0


def _binomial(n: int, probability: float) -> list[float]:
    """Return the cumulative probabilities of 0 to n successes in n trials."""
    cumulative, total = [], 0.0
    for successes in range(n + 1):
        log = math.lgamma(n + 1) - math.lgamma(successes + 1) - math.lgamma(n - successes + 1)
        total += math.exp(log + successes * math.log(probability) + (n - successes) * math.log1p(-probability))
        cumulative.append(min(total, 1.0))
    return cumulative
