"""Ranks of values of several sets, and what chance makes of them where the sets are of one distribution."""

import functools
import math
from collections.abc import Sequence
from statistics import NormalDist

from apps.bench.statistics.distributions import normal_tail
from apps.bench.statistics.quantiles import CONFIDENCE

# Up to this many pairs the exact distribution of U is counted, beyond it is normal to three digits.
_MOST_EXACT = 400
_NORMAL = NormalDist()


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


@functools.lru_cache(maxsize=4096)
def cut_of(n: int, m: int) -> tuple[int, float]:
    """Return how many of the n m differences lie beyond either end of the shift's interval, and its confidence.

    The chance that k or fewer lie on one side of the true shift is that of U <= k (Hollander, Wolfe, 1973, 4.2). As
    many are cut as leave 95 %; of small sets none, and the interval is all that the differences span.
    """
    tail = (1 - CONFIDENCE) / 2
    if n * m > _MOST_EXACT:
        z = _NORMAL.inv_cdf(1 - tail)
        return max(0, math.floor(n * m / 2 - z * math.sqrt(n * m * (n + m + 1) / 12))), CONFIDENCE
    counts = _orders(n, m)
    whole, below, cut = math.comb(n + m, n), counts[0], 0
    while (below + counts[cut + 1]) / whole <= tail:
        cut += 1
        below += counts[cut]
    return cut, 1 - 2 * below / whole


def least_p(n: int, m: int) -> float:
    """Return the least p that the ranks of any n and m values can have: that of sets that do not overlap."""
    return min(1.0, 2 / math.comb(n + m, n))


def p_of_u(u: float, n: int, m: int, ties: float) -> float:
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
    counts = _orders(n, m)
    extreme = min(u, n * m - u)
    return min(1.0, 2 * sum(counts[: extreme + 1]) / math.comb(n + m, n))


@functools.lru_cache(maxsize=1024)
def _orders(n: int, m: int) -> tuple[int, ...]:
    """Return how many orders of n and m values have each U, from 0 to n m."""
    counts = [1] + [0] * (n * m)
    # The Gaussian binomial coefficient, a factor (1 - q^(m + i)) / (1 - q^i) at a time.
    for i in range(1, n + 1):
        for k in range(n * m, m + i - 1, -1):
            counts[k] -= counts[k - m - i]
        for k in range(i, n * m + 1):
            counts[k] += counts[k - i]
    return tuple(counts)
