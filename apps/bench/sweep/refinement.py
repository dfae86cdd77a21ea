"""Where to measure next, so that a knee or an optimum is found with fewer points than a full grid."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apps.bench.knee import find_knee

KNEE, MAXIMUM, MINIMUM = "knee", "maximum", "minimum"
GOALS = (KNEE, MAXIMUM, MINIMUM)
# Neighbours closer than this (ratio - 1) need nothing between them: a tenth of a window or of streams tells nothing.
RESOLUTION = 0.10
# A search needs a curve to begin with.
LEAST_POINTS = 3


@dataclass(frozen=True)
class MeasuredValue:
    """A value of the factor (> 0), the mean it gave, and the half-width of that mean's 95 % interval (0: unknown)."""

    x: float
    y: float
    error: float = 0.0


def next_values(
    points: Sequence[MeasuredValue],
    goal: str,
    budget: int,
    to_value: Callable[[float], float],
    limit: float = math.inf,
) -> list[float]:
    """Return the next values of the factor to measure, `budget` at most; none when the search has ended.

    `to_value` rounds a wanted value to one the factor can take; `limit` is the highest of those. Around the knee, or
    the best value and those that cannot be told from it, the gaps are halved (by the geometric mean: such factors
    span decades) until they are a tenth of the value. A best value at the upper end is followed outwards, by
    doubling. ValueError for an unknown goal.
    """
    if goal not in GOALS:
        raise ValueError(f"no goal of a search is called {goal!r}")
    ordered = sorted((point for point in points if point.x > 0), key=lambda point: point.x)
    if len(ordered) < LEAST_POINTS or budget < 1:
        return []
    gaps = _gaps_at_knee(ordered) if goal == KNEE else _gaps_at_best(ordered, goal)
    xs = {point.x for point in ordered}
    proposals: list[float] = []
    for low, high in gaps:
        x = to_value(math.sqrt(low * high) if math.isfinite(high) else min(2 * low, limit))
        is_wide = not math.isfinite(high) or high / low > 1 + RESOLUTION
        if is_wide and x not in xs and low < x < high and x <= limit:
            xs.add(x)
            proposals.append(x)
    return proposals[:budget]


def _gaps_at_knee(points: Sequence[MeasuredValue]) -> list[tuple[float, float]]:
    """Return the gap that holds the knee, and the open end if the curve has not bent yet."""
    knee = find_knee([point.x for point in points], [max(0.0, point.y) for point in points])
    if knee is None:
        return []
    if not knee.is_reached:
        return [(points[-1].x, math.inf)]
    return [(low.x, high.x) for low, high in itertools.pairwise(points) if low.x <= knee.at < high.x]


def _gaps_at_best(points: Sequence[MeasuredValue], goal: str) -> list[tuple[float, float]]:
    """Return the gaps on both sides of the best point and of those whose intervals overlap its own."""
    sign = 1.0 if goal == MAXIMUM else -1.0
    best = max(points, key=lambda point: sign * point.y)
    rivals = [place for place, point in enumerate(points) if sign * (best.y - point.y) <= best.error + point.error]
    first, last = rivals[0], rivals[-1]
    edges = points[max(0, first - 1) : last + 2]
    gaps = [(low.x, high.x) for low, high in itertools.pairwise(edges)]
    if last == len(points) - 1:
        gaps.append((points[-1].x, math.inf))
    # The gaps next to the best value come first: a budget may not reach for all.
    return sorted(gaps, key=lambda gap: min(abs(math.log(x / best.x)) for x in gap if math.isfinite(x)))


def whole_or_short(value: float, *, whole: bool) -> float:
    """Return a value near the wanted one that people would write: of two digits, or a `whole` number.

    Large whole ones (above 8 KiB) become multiples of an eighth of their power of two: 741,455 is 704 KiB.
    """
    if not whole:
        return float(f"{value:.2g}")
    if value < 8192:
        return max(1, round(value))
    step = 2 ** (math.floor(math.log2(value)) - 3)
    return round(value / step) * step
