"""Where an interval meets what its quantity can be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Shares are of a whole.
MOST = {"fraction": 1.0, "%": 100.0}
# A figure above its limit by no more than this lies at it, by how a tool counts; from there on the limit is wrong.
REFUTED = 1.05
# Jain's index, of whatever shares.
MOST_OF_METRIC = {"fairness": 1.0}
# What classes call a figure, and the ends of its interval.
NAMES, ENDS = ("value", "rate", "mean"), (("low", "high"), ("ci_low", "ci_high"))


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
    their unit, and `metric` tells some that are a share of one. Figures that lie just above a limit raise it to the
    highest of them; an interval of figures that lie far beyond one is left as it is: then the limit is wrong.
    """
    if low is None or high is None:
        return Clipped(low, high, is_cut=False)
    maximum = MOST_OF_METRIC.get(metric, MOST.get(unit, ceiling))
    least_end = 0.0 if low < 0 <= high and min(values) >= 0 else low
    limit = limit_of(maximum, max(values))
    most_end = high if limit is None else min(high, limit)
    return Clipped(least_end, most_end, is_cut=(least_end, most_end) != (low, high))


def limit_of(limit: float | None, highest: float) -> float | None:
    """Return what a figure is at most where one as high was met; None without a limit, or where it is wrong."""
    if limit is None or highest > REFUTED * limit:
        return None
    return max(limit, highest)


class Within:
    """A base of frozen dataclasses of a figure with its interval: the interval holds the figure, else ValueError.

    A mean of one kind beside an interval of another may lie outside of it. The figure is what NAMES has of it, its
    interval ENDS or a pair `interval`; None is anything.
    """

    def __post_init__(self) -> None:
        """Refuse an interval that leaves out its own figure."""
        value = next((own for name in NAMES if (own := getattr(self, name, None)) is not None), None)
        for low, high in self._intervals():
            if value is not None and ((low is not None and low > value) or (high is not None and high < value)):
                raise ValueError(f"{value} is not within its interval, {low} to {high}")

    def _intervals(self) -> Iterator[tuple[float | None, float | None]]:
        for low, high in ENDS:
            yield getattr(self, low, None), getattr(self, high, None)
        pair = getattr(self, "interval", None)
        if isinstance(pair, tuple):
            yield pair
