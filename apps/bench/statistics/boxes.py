"""A distribution as a box with whiskers."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.statistics.quantiles import quantile

# Whiskers reach as far as a value within so many interquartile ranges of the box (Tukey, 1977).
REACH = 1.5


@dataclass(frozen=True)
class Box:
    """Quartiles, the ends of the whiskers, and the values beyond them, all in the unit of the values."""

    q1: float
    median: float
    q3: float
    whisker_low: float
    whisker_high: float
    outliers: tuple[float, ...]


def box_of(values: Sequence[float]) -> Box:
    """Return the box of one or more values; outliers in ascending order."""
    ordered = sorted(values)
    q1, median, q3 = (quantile(ordered, probability) for probability in (0.25, 0.5, 0.75))
    low, high = q1 - REACH * (q3 - q1), q3 + REACH * (q3 - q1)
    within = [value for value in ordered if low <= value <= high]
    # A quartile between two values may leave none within: then the whiskers end at the box.
    whiskers = (min(within[0], q1), max(within[-1], q3)) if within else (q1, q3)
    return Box(q1, median, q3, *whiskers, tuple(value for value in ordered if not low <= value <= high))
