"""Whether two sets of values differ, by how much, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from apps.bench.statistics.distributions import chi_square_tail, normal_tail
from apps.bench.statistics.summary import CONFIDENCE, quantile

# Up to this many pairs the exact distribution of U is counted, beyond it is normal to three digits.
_MOST_EXACT = 400
# The shift of larger sets is that of some of their values: it changes by 4 % of half its interval at most.
_MOST_PAIRS = 10_000
_KEPT = 100
_NORMAL = NormalDist()
# Beyond this the exponential is no float any more.
_MOST_LOG = 709.0


@dataclass(frozen=True)
class Difference:
    """The second set against the first.

    `p` is two-sided. `superiority` is the chance that a value of the second is above one of the first, ties counting
    half (Vargha, Delaney, 2000): 0.5 for equals. `shift` is the Hodges-Lehmann estimate of second - first with its
    interval, `ratio` the same of second / first, None unless all values are above zero.
    """

    p: float
    superiority: float
    shift: float
    shift_low: float
    shift_high: float
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None

    @property
    def effect(self) -> str:
        """Return the size of the effect by the limits of Vargha and Delaney: none, small, medium or large."""
        distance = abs(self.superiority - 0.5)
        return (
            "large" if distance >= 0.21 else "medium" if distance >= 0.14 else "small" if distance >= 0.06 else "none"
        )


def compare_two(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Return how two sets of one or more values differ (Mann, Whitney, 1947; Hodges, Lehmann, 1963)."""
    n, m = len(first), len(second)
    ranks, ties = ranks_of([*first, *second])
    u = math.fsum(ranks[n:]) - m * (m + 1) / 2
    shift, low, high = _shift(first, second)
    ratios: tuple[float | None, float | None, float | None] = (None, None, None)
    if min(*first, *second) > 0:
        logs = _shift([math.log(value) for value in first], [math.log(value) for value in second])
        ratios = (_exp(logs[0]), _exp(logs[1]), _exp(logs[2]))
    return Difference(_p_of_u(u, n, m, ties), u / (n * m), shift, low, high, *ratios)


def _exp(log: float) -> float:
    """Return e to the power of a number, the largest float where there is none so large."""
    return math.exp(min(log, _MOST_LOG))


def least_p(n: int, m: int) -> float:
    """Return the least p that any two sets of n and m values can have: that of sets that do not overlap."""
    return min(1.0, 2 / math.comb(n + m, n))


def compare_many(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return (p, effect) of the hypothesis that two or more groups are of one distribution (Kruskal, Wallis, 1952).

    The effect is epsilon squared, H (n + 1) / (n² - 1), 0 to 1 (Tomczak, Tomczak, 2014). ValueError for one group.
    """
    filled = [group for group in groups if group]
    if len(filled) < 2:
        raise ValueError("a comparison needs two groups with values")
    values = [value for group in filled for value in group]
    n = len(values)
    ranks, ties = ranks_of(values)
    if ties == 1:
        return 1.0, 0.0
    sums, place = [], 0
    for group in filled:
        sums.append(math.fsum(ranks[place : place + len(group)]) ** 2 / len(group))
        place += len(group)
    h = (12 / (n * (n + 1)) * math.fsum(sums) - 3 * (n + 1)) / (1 - ties)
    return chi_square_tail(h, len(filled) - 1), max(0.0, h / (n - 1))


def adjust_holm(ps: Sequence[float]) -> list[float]:
    """Return p-values of several tests such that any one is wrong no more often than it says (Holm, 1979)."""
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    adjusted, most = [0.0] * len(ps), 0.0
    for rank, place in enumerate(order):
        most = max(most, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = most
    return adjusted


def _shift(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """Return the median of all differences and the interval of the shift, from order statistics of the same."""
    n, m = len(first), len(second)
    if n * m > _MOST_PAIRS:
        first, second = _thinned(first), _thinned(second)
    # In rising runs, which a sort only has to merge.
    falling, rising = sorted(first, reverse=True), sorted(second)
    differences = sorted([b - a for a in falling for b in rising])
    z = _NORMAL.inv_cdf((1 + CONFIDENCE) / 2)
    left = math.floor(n * m / 2 - z * math.sqrt(n * m * (n + m + 1) / 12))
    # Too few values for the interval: all that can be said is the range.
    left = max(0, left) * len(differences) // (n * m)
    return quantile(differences, 0.5), differences[left], differences[-1 - left]


def _thinned(values: Sequence[float]) -> list[float]:
    """Return so many of many values, evenly spaced."""
    ordered = sorted(values)
    if len(ordered) <= _KEPT:
        return ordered
    return [ordered[(2 * place + 1) * len(ordered) // (2 * _KEPT)] for place in range(_KEPT)]


def _p_of_u(u: float, n: int, m: int, ties: float) -> float:
    """Return the two-sided p of U with the share of ties that `ranks_of` gives."""
    if ties == 0 and n * m <= _MOST_EXACT:
        return _exact_p(round(u), n, m)
    spread = math.sqrt(n * m * (n + m + 1) / 12 * (1 - ties))
    if not spread:
        return 1.0
    distance = max(0.0, abs(u - n * m / 2) - 0.5)
    return min(1.0, 2 * normal_tail(distance / spread))


def _exact_p(u: int, n: int, m: int) -> float:
    """Return the two-sided p of U: how many orders of n and m values are as far from the middle."""
    counts = [1] + [0] * (n * m)
    # The Gaussian binomial coefficient, a factor (1 - q^(m + i)) / (1 - q^i) at a time.
    for i in range(1, n + 1):
        for k in range(n * m, m + i - 1, -1):
            counts[k] -= counts[k - m - i]
        for k in range(i, n * m + 1):
            counts[k] += counts[k - i]
    extreme = min(u, n * m - u)
    return min(1.0, 2 * sum(counts[: extreme + 1]) / sum(counts))


def ranks_of(values: Sequence[float]) -> tuple[list[float], float]:
    """Return the ranks (ties share their mean) and the share that ties take: sum(t³ - t) / (n³ - n), 0 to 1."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    ranks, tied, start, n = [0.0] * len(values), 0, 0, len(values)
    while start < n:
        end = start
        while end < n and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            ranks[place] = (start + 1 + end) / 2
        tied += (end - start) ** 3 - (end - start)
        start = end
    return ranks, tied / (n**3 - n) if n > 1 else 1.0
