"""What a series is freed of before its changes are looked for: lone outliers, and what neighbours have in common."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from apps.bench.statistics import neighbours

# The median of so many neighbours on each side tells the level: a level of four values has the majority.
REACH = 3
# A value further from it than so many deviations is an outlier (Hampel's filter).
MOST_SCORE = 5.0
# The median absolute deviation of normal values, and that of the differences of neighbours.
NORMAL_MAD = 0.6745
# What is so many is no outlier: a figure with two modes jumps between them, and is no change of level either.
MOST_OUTLIERS, SHARE_OF_OUTLIERS = 2, 0.15
# A fitted level takes so much from the correlation of the rest, over the length of the series.
TAKEN = 1.0
# Of a short series the correlation is not known: only what is beyond so many of its standard errors counts.
DOUBT = 0.5


def without_outliers(values: Sequence[float]) -> list[float]:
    """Return the values, those few that stand apart from the level around them replaced by it."""
    if len(values) < 2 * REACH + 1:
        return list(values)
    steps = sorted(abs(b - a) for a, b in pairwise(values))
    spread = median(steps) / NORMAL_MAD / math.sqrt(2)
    levels = [median(values[max(0, place - REACH) : place + REACH + 1]) for place in range(len(values))]
    apart = [abs(value - level) > MOST_SCORE * spread for value, level in zip(values, levels, strict=True)]
    if sum(apart) > max(MOST_OUTLIERS, SHARE_OF_OUTLIERS * len(values)):
        return list(values)
    return [level if is_apart else value for value, level, is_apart in zip(values, levels, apart, strict=True)]


def correlation(values: Sequence[float], edges: Sequence[int]) -> float:
    """Return the correlation of neighbours (0 to 0.8) within levels that begin and end at the edges."""
    return neighbours.correlation((values[low:high] for low, high in pairwise(edges)), lost=TAKEN, doubt=DOUBT)


def whitened(values: Sequence[float], rho: float) -> list[float]:
    """Return an autoregressive series with what each value has of the one before taken out; levels stay."""
    if not rho:
        return list(values)
    return [values[0], *((b - rho * a) / (1 - rho) for a, b in pairwise(values))]
