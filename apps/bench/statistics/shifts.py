"""How far one set of values lies above another, and the interval of that."""

import functools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.statistics.distributions import student_t_quantile, student_t_tail
from apps.bench.statistics.intervals import Method
from apps.bench.statistics.modes import find_modes
from apps.bench.statistics.neighbours import correlation
from apps.bench.statistics.quantiles import CONFIDENCE, quantile
from apps.bench.statistics.ranks import cut_of, least_p

# The shift of larger sets is that of some of their values: it changes by 4 % of half its interval at most.
_MOST_PAIRS = 10_000
_KEPT = 100
# A single value has no scatter that could be weighed.
LEAST_FOR_INTERVAL = 2
# Two values of a set may agree by chance, and where the other set scatters less nothing tells: what is asked for at
# 92 % holds in 90 of 100 (normal values) down to 87 (two modes).
ASKED_OF_TWO, CONFIDENCE_OF_TWO = 0.92, 0.9
# From so many values on a mean is normal enough.
LEAST_LARGE = 8
# From so many on it shows whether neighbours are alike; what a fitted mean takes from their correlation.
LEAST_CORRELATED = 10
TAKEN = 1.5
# Quantiles are asked for in such steps of the degrees of freedom, which are rounded down to them.
_STEPS, _MOST_STEPPED, _MOST_FREE = 4, 30, 200
_MOST = sys.float_info.max


@dataclass(frozen=True)
class Shift:
    """The Hodges-Lehmann estimate of second - first with its interval, None of a single value on a side.

    `welch` is the test whose interval this is, None where it is not Welch's.
    """

    middle: float
    low: float | None = None
    high: float | None = None
    welch: "Welch | None" = None


@dataclass(frozen=True)
class Welch:
    """The difference of two means (`centre`), half its interval, and the t of `degrees` of freedom that tests it."""

    centre: float
    half: float
    t: float
    degrees: float
    is_of_two: bool = False

    @property
    def p(self) -> float:
        """Return the two-sided p. Of two figures it grows as far as their interval is less sure."""
        p = 2 * student_t_tail(self.t, self.degrees)
        return min(1.0, p * (1 - CONFIDENCE_OF_TWO) / (1 - ASKED_OF_TWO) if self.is_of_two else p)


@dataclass(frozen=True)
class Grade:
    """How an interval of a shift is found, the confidence that it has (0 to 1), and the least p of such sets."""

    method: Method
    confidence: float
    least_p: float = 0.0


def grade_of(first: Sequence[float], second: Sequence[float]) -> Grade | None:
    """Return how surely two sets tell the interval of their shift, None of a single value on a side.

    Where one has two modes it is that of the ranks alone. All values of a set being equal tells little of its
    scatter: the chance that all of n lie on one side of its median is 2 / 2^n.
    """
    n, m = len(first), len(second)
    if min(n, m) < LEAST_FOR_INTERVAL:
        return None
    if find_modes(first) or find_modes(second):
        return Grade(Method.RANKS, cut_of(n, m)[1], least_p(n, m))
    equal = [len(values) for values in (first, second) if min(values) == max(values)]
    if equal:
        return Grade(Method.EQUAL, min(CONFIDENCE, 1 - 2 ** (1 - min(equal))), 2.0 ** (1 - min(equal)))
    if min(n, m) == LEAST_FOR_INTERVAL:
        return Grade(Method.WELCH, CONFIDENCE_OF_TWO)
    # Of four and four values ranks can only give 97 % or far less.
    return Grade(Method.WELCH, max(CONFIDENCE, cut_of(n, m)[1]) if _is_small(n, m) else CONFIDENCE)


def shift_of(first: Sequence[float], second: Sequence[float], method: Method | None) -> Shift:
    """Return the median of all differences with its interval: Welch's t (1947), whatever the scatter of either set.

    It supposes roughly normal means. Of small sets it goes as far as the ranks do, too (between order statistics of
    the differences: Hodges, Lehmann, 1963), which suppose that both scatter alike, but no distribution.
    """
    n, m = len(first), len(second)
    few, many = (first, second) if n * m <= _MOST_PAIRS else (_thinned(first), _thinned(second))
    # In rising runs, which a sort only has to merge.
    falling, rising = sorted(few, reverse=True), sorted(many)
    differences = sorted([b - a for a in falling for b in rising])
    middle = quantile(differences, 0.5)
    if method is None:
        return Shift(middle)
    left = cut_of(n, m)[0] * len(differences) // (n * m)
    low, high = differences[left], differences[-1 - left]
    if method is Method.RANKS:
        return Shift(middle, low, high)
    welch = _welch(first, second)
    if not _is_small(n, m):
        low = high = middle
    low, high = min(low, welch.centre - welch.half), max(high, welch.centre + welch.half)
    return Shift(middle, max(low, -_MOST), min(high, _MOST), welch)


def _is_small(n: int, m: int) -> bool:
    """Return whether the mean of the smaller set need not be normal."""
    return min(n, m) < LEAST_LARGE


def _welch(first: Sequence[float], second: Sequence[float]) -> Welch:
    """Return the test of Welch, 1947, with degrees of freedom of Satterthwaite.

    Values are in the order of time. Where neighbours are alike, n of them tell as much as n (1 - r) / (1 + r).
    """
    shortest = min(len(first), len(second))
    # The squares of the largest floats are none.
    scale = max(map(abs, (*first, *second))) or 1.0
    sets = [[value / scale for value in values] for values in (first, second)]
    r = correlation(sets, lost=TAKEN) if shortest >= LEAST_CORRELATED else 0.0
    shrinking = (1 + r) / (1 - r)
    means, variances, free = [], [], []
    for values in sets:
        n = len(values)
        mean = math.fsum(values) / n
        squares = math.fsum((value - mean) ** 2 for value in values)
        means.append(mean)
        variances.append(squares / max(n - shrinking, 1.0) * shrinking / n)
        free.append(max(n / shrinking - 1, 1.0))
    centre, variance = scale * (means[1] - means[0]), math.fsum(variances)
    if not variance:
        return Welch(centre, 0.0, math.inf if centre else 0.0, 1.0)
    degrees = 1 / math.fsum((part / variance) ** 2 / own for part, own in zip(variances, free, strict=True))
    is_of_two = shortest <= LEAST_FOR_INTERVAL
    deviation, free_stepped = math.sqrt(variance), _stepped(degrees)
    half = scale * _quantile(ASKED_OF_TWO if is_of_two else CONFIDENCE, free_stepped) * deviation
    return Welch(centre, half, abs(centre) / scale / deviation, free_stepped, is_of_two)


def _stepped(degrees: float) -> float:
    """Return degrees of freedom rounded down to one of a few values: the quantile of each takes a while."""
    if degrees <= _MOST_STEPPED:
        return max(1.0, math.floor(_STEPS * degrees) / _STEPS)
    return float(min(math.floor(degrees), _MOST_FREE))


@functools.lru_cache(maxsize=1024)
def _quantile(confidence: float, degrees: float) -> float:
    return student_t_quantile((1 + confidence) / 2, degrees)


def _thinned(values: Sequence[float]) -> list[float]:
    """Return so many of many values, evenly spaced."""
    ordered = sorted(values)
    if len(ordered) <= _KEPT:
        return ordered
    return [ordered[(2 * place + 1) * len(ordered) // (2 * _KEPT)] for place in range(_KEPT)]
