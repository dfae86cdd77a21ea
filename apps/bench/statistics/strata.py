"""Whether one set of values lies above another at the same settings, over all settings together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.statistics.distributions import normal_tail
from apps.bench.statistics.ranks import ranks_of


@dataclass(frozen=True)
class Overall:
    """The second set against the first over `strata` settings; `superiority` as of `Difference`, 0.5 for equals.

    `least` is the least p that sets of these sizes can have: of those that overlap nowhere.
    """

    p: float
    superiority: float
    strata: int
    least: float = 0.0


def compare_strata(strata: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Overall | None:
    """Return how the second values of (first, second) pairs of sets differ from the first; None if there are none.

    The rank sums of each setting, weighted by 1 / (n + m + 1), which is best where the shift is the same everywhere
    (van Elteren, 1960); normal. Values are compared only with those of the same setting.
    """
    both = [(first, second) for first, second in strata if first and second]
    distance, variance, wins, weights, apart = 0.0, 0.0, 0.0, 0.0, 0.0
    for first, second in both:
        n, m = len(first), len(second)
        ranks, ties = ranks_of([*first, *second])
        u = math.fsum(ranks[n:]) - m * (m + 1) / 2
        weight = 1 / (n + m + 1)
        distance += weight * (u - n * m / 2)
        variance += weight**2 * n * m * (n + m + 1) / 12 * (1 - ties)
        apart += weight**2 * n * m * (n + m + 1) / 12
        wins += weight * u
        weights += weight * n * m
    if not both:
        return None
    z = abs(distance) / math.sqrt(variance) if variance else 0.0
    smallest_p = 2 * normal_tail(weights / 2 / math.sqrt(apart))
    return Overall(min(1.0, 2 * normal_tail(z)), wins / weights, len(both), smallest_p)
