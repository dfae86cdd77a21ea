"""Intervals, each with how it was found and the confidence that it has."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import NormalDist

from apps.bench.statistics.evenness import LEAST_APART, Evenness
from apps.bench.statistics.leaning import mean_ends
from apps.bench.statistics.means import Mean
from apps.bench.statistics.modes import LEAST_RATIO, find_modes
from apps.bench.statistics.quantiles import CONFIDENCE
from apps.bench.text import Message, _

RESAMPLES = 2000
# Fewer values than this repeat themselves so often that their resamples say little.
LEAST_FOR_BOOTSTRAP = 5
# Digits of which a figure has so many.
LEAST_DIGITS, MOST_DIGITS = 3, 4
_NORMAL = NormalDist()


class Method(Enum):
    """How an interval was found."""

    STUDENT = "student"
    # Of the difference of two sets, or of their ratio.
    WELCH = "welch"
    BOOTSTRAP = "bootstrap"
    # Between two of the figures, by how many lie below and above: whatever their distribution.
    RANKS = "ranks"
    # All figures are equal: nothing is known of their scatter, so no confidence of their mean either.
    EQUAL = "equal"
    # From the smallest to the largest of figures that tell no interval of their mean: few of two modes, or far apart.
    RANGE = "range"
    # Student's, of figures that lean to one side: it holds less often than of others, nobody knows how often.
    LEANING = "leaning"


_WORDS = {
    Method.STUDENT: _("%(percent)s %% by Student's t widened, if the scatter is even"),
    Method.BOOTSTRAP: _("%(percent)s %% by the bootstrap: there are two modes"),
    Method.RANKS: _("%(percent)s %%, between two of the figures"),
    Method.EQUAL: _("what rounding leaves: all figures are equal, and how sure that is cannot be known"),
    Method.RANGE: _("from the smallest to the largest: so few figures so far apart tell no interval of their mean"),
    Method.LEANING: _("by Student's t, which holds less often than in 95 of 100: figures lean to one side"),
}
# What an interval supposes of the figures besides that they do not depend on each other, by how it was found.
ASSUMES = {Method.STUDENT: "even-scatter"}


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, with the confidence it really has (0 to 1; None: not known), and how it was found."""

    low: float
    high: float
    confidence: float | None
    method: Method = Method.RANKS

    @property
    def message(self) -> Message:
        """Return which interval it is, in words: "95 % by Student's t"."""
        percent = {} if self.confidence is None else {"percent": percent_of(self.confidence)}
        return Message(_WORDS[self.method], percent)


def assumes_of(method: Method | None) -> str:
    """Return what an interval supposes of its figures, as REST names it: "even-scatter", "" for nothing."""
    return "" if method is None else ASSUMES.get(method, "")


def percent_of(confidence: float) -> str:
    """Return a confidence as people write it: "95", and "67" for 0.667, never more than it is, nor all."""
    return f"{min(99, math.floor(100 * confidence + 1e-6))}"


def resolution_of(value: float) -> float:
    """Return by how much a figure may be off at least: half a unit of its last digit, of four digits at most.

    Tools print three or more; of 122.012 the rest is what was computed from a rounded time. 0 of zero.
    """
    if not value:
        return 0.0
    digits_text = f"{abs(value):.{MOST_DIGITS - 1}e}"
    digits = len(digits_text.partition("e")[0].rstrip("0").replace(".", ""))
    exponent = int(digits_text.partition("e")[2])
    return 0.5 * 10.0 ** (exponent - max(LEAST_DIGITS, digits) + 1)


def mean_interval(
    values: Sequence[float], kind: Mean = Mean.ARITHMETIC, evenness: Evenness = Evenness.EVEN
) -> tuple[float, Interval | None]:
    """Return the mean of one or more finite values and its interval, None for a single one.

    `evenness` is how such figures scatter, as far as other places of the same table show it.
    Both are of one kind: of a harmonic mean it is the interval of the reciprocals turned over again, or where these
    may be zero none. Where a rate is zero mean and interval are the arithmetic ones. The interval holds its mean.
    """
    if kind is Mean.ARITHMETIC or min(values) <= 0:
        mean, interval = _arithmetic(values, evenness)
        return mean, _around(mean, interval)
    mean = middle_of(values, kind)
    _mean_time, interval = _arithmetic([1 / value for value in values], evenness)
    if interval and interval.low > 0:
        return mean, _around(mean, replace(interval, low=1 / interval.high, high=1 / interval.low))
    return mean, None


def middle_of(values: Sequence[float], kind: Mean = Mean.ARITHMETIC) -> float:
    """Return the mean of one or more finite values as `mean_interval` gives it, for those who want no interval."""
    if kind is Mean.ARITHMETIC or min(values) <= 0:
        return _middle(values)
    return min(max(1 / _middle([1 / value for value in values]), min(values)), max(values))


def _middle(values: Sequence[float]) -> float:
    """Return the arithmetic mean, which rounding may lead astray by the last digit where values are equal."""
    return min(max(math.fsum(values) / len(values), min(values)), max(values))


def _around(mean: float, interval: Interval | None) -> Interval | None:
    """Return an interval that holds its mean, which rounding or a skewed bootstrap may leave just outside."""
    return interval and replace(interval, low=min(interval.low, mean), high=max(interval.high, mean))


def _arithmetic(values: Sequence[float], evenness: Evenness) -> tuple[float, Interval | None]:
    """Return the arithmetic mean with its interval.

    It is Student's (1908) with the values' own lean taken out (`leaning.mean_ends`), which supposes independent
    values about one place: of two modes, 80 and 20 of 100, it held in 49 to 61 of 100 of three to five values. Where
    they fall into two modes it is that of the bootstrap, or where too few have met only one, or do not tell both, all
    that they span, without a confidence; where places together lean to one side it has none either. Equal values tell
    nothing of their scatter: they may be a line that is full, with dips nobody saw, or be rounded. Their interval is
    what rounding leaves, without a confidence.
    """
    n, minimum, maximum = len(values), min(values), max(values)
    mean = _middle(values)
    if n < 2:
        return mean, None
    if minimum == maximum:
        off = resolution_of(mean)
        return mean, Interval(minimum - off, maximum + off, None, Method.EQUAL)
    least_ratio = LEAST_APART if evenness is Evenness.MODES else LEAST_RATIO
    has_modes = find_modes(values, least_ratio) is not None
    if evenness is Evenness.MODES and not has_modes:
        return mean, Interval(minimum, maximum, None, Method.RANGE)
    if has_modes:
        interval = bootstrap_interval(sorted(values), lambda resample: math.fsum(resample) / len(resample))
        return mean, interval
    low, high = mean_ends(values, mean, CONFIDENCE)
    if evenness is Evenness.LEANING:
        return mean, Interval(low, high, None, Method.LEANING)
    return mean, Interval(low, high, CONFIDENCE, Method.STUDENT)


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
    estimates = sorted(statistic(generator.choices(values, k=n)) for _resample in range(resamples))
    below = sum(value < estimate for value in estimates) + sum(value == estimate for value in estimates) / 2
    if not 0 < below < resamples:
        return Interval(estimates[0], estimates[-1], confidence, Method.BOOTSTRAP)
    bias = _NORMAL.inv_cdf(below / resamples)
    acceleration = _acceleration(values, statistic)

    def at(probability: float) -> float:
        z = bias + _NORMAL.inv_cdf(probability)
        place = _NORMAL.cdf(bias + z / (1 - acceleration * z))
        return estimates[min(resamples - 1, max(0, math.floor(place * (resamples + 1)) - 1))]

    return Interval(at((1 - confidence) / 2), at((1 + confidence) / 2), confidence, Method.BOOTSTRAP)


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
