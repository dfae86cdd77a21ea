"""Where an interval meets what its quantity can be."""

from collections.abc import Sequence
from dataclasses import dataclass

# Shares are of a whole.
MOST = {"fraction": 1.0, "%": 100.0}
# Jain's index, of whatever shares.
MOST_OF_METRIC = {"fairness": 1.0}


@dataclass(frozen=True)
class Clipped:
    """The ends of an interval (None without one), and whether either was beyond what the quantity can be."""

    low: float | None
    high: float | None
    is_cut: bool


def clipped(
    low: float | None,
    high: float | None,
    unit: str,
    values: Sequence[float],
    ceiling: float | None = None,
    metric: str = "",
) -> Clipped:
    """Return the interval of figures without what they cannot be: less than nothing, more than the whole.

    Nothing is less than zero if none of the figures is; `ceiling` is what nothing along the measured path exceeds, in
    their unit, and `metric` tells some that are a share of one. An interval that lies beyond a limit altogether is
    left as it is: then the limit is wrong.
    """
    if low is None or high is None:
        return Clipped(low, high, is_cut=False)
    maximum = MOST_OF_METRIC.get(metric, MOST.get(unit, ceiling))
    least_end = 0.0 if low < 0 <= high and min(values) >= 0 else low
    most_end = maximum if maximum is not None and max(values) <= maximum < high else high
    return Clipped(least_end, most_end, is_cut=(least_end, most_end) != (low, high))
