"""What a series is freed of before its changes are looked for: lone outliers, and what neighbours have in common."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from apps.bench.statistics import neighbours

# The median of so many neighbours on each side tells the level: a level of four values has the majority.
REACH = 3
# A value further from it than so many deviations is an outlier (Hampel's filter): of the whole series, or of so many
# steps on each side of it. Where all scatter as far a level would be feigned by taking the far ones out.
MOST_SCORE, AROUND = 5.0, 6
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
    levels = [median(values[max(0, place - REACH) : place + REACH + 1]) for place in range(len(values))]
    apart = [
        abs(value - level) > MOST_SCORE * spread
        for value, level, spread in zip(values, levels, _spreads(values), strict=True)
    ]
    if sum(apart) > max(MOST_OUTLIERS, SHARE_OF_OUTLIERS * len(values)):
        return list(values)
    return [level if is_apart else value for value, level, is_apart in zip(values, levels, apart, strict=True)]


def _spreads(values: Sequence[float]) -> list[float]:
    """Return the deviation about the level at each place: the larger of the series's and of its neighbours'."""
    steps = [abs(b - a) for a, b in pairwise(values)]
    whole = median(steps)
    spreads = []
    for place in range(len(values)):
        # The two steps to the value itself say how far it is apart, not how far its neighbours are.
        before, after = steps[max(0, place - 1 - AROUND) : max(0, place - 1)], steps[place + 1 : place + 1 + AROUND]
        spreads.append(max(whole, median([*before, *after])) / NORMAL_MAD / math.sqrt(2))
    return spreads


def correlation(values: Sequence[float], edges: Sequence[int]) -> float:
    """Return the correlation of neighbours (0 to 0.8) within levels that begin and end at the edges."""
    return neighbours.correlation((values[low:high] for low, high in pairwise(edges)), lost=TAKEN, doubt=DOUBT)


def whitened(values: Sequence[float], rho: float) -> list[float]:
    """Return an autoregressive series with what each value has of the one before taken out; levels stay."""
    if not rho:
        return list(values)
    return [values[0], *((b - rho * a) / (1 - rho) for a, b in pairwise(values))]
