"""Quantiles, and the confidence that intervals are wanted at."""

import math
from collections.abc import Sequence

CONFIDENCE = 0.95


def quantile(ordered: Sequence[float], probability: float) -> float:
    """Return the quantile of ascending values, interpolated linearly (type 7 of Hyndman and Fan, 1996)."""
    place = (len(ordered) - 1) * probability
    below = math.floor(place)
    if below == place:
        return ordered[below]
    low, high = ordered[below], ordered[below + 1]
    return min(low + (high - low) * (place - below), high)
