"""Whether what looks like steps is one trend: a straight line that tells the series with fewer numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# A line must be better by so much: differences of Schwarz's criterion from there on are very strong evidence
# (Kass, Raftery, 1995). Of twenty values a step of three deviations must not be taken for a trend.
LEAST_EVIDENCE = 10.0


@dataclass(frozen=True)
class Trend:
    """A series that rises or falls steadily: the line through it at its first and at its last value."""

    before: float
    after: float

    @property
    def ratio(self) -> float:
        """Return the end over the beginning."""
        return self.after / self.before if self.before else math.inf


def line_of(values: Sequence[float], places: Sequence[int]) -> Trend | None:
    """Return the line through a series if it explains it better than levels that change at `places`; else None.

    By Schwarz's criterion (1978), n ln(RSS / n) + k ln n: a line has two numbers, levels have one each, and one more
    for the place of each change.
    """
    n = len(values)
    centre, mean = (n - 1) / 2, math.fsum(values) / n
    spread = math.fsum((place - centre) ** 2 for place in range(n))
    slope = math.fsum((place - centre) * value for place, value in enumerate(values)) / spread
    of_line = math.fsum((value - mean - slope * (place - centre)) ** 2 for place, value in enumerate(values))
    of_levels = math.fsum(_squares(values[low:high]) for low, high in pairwise([0, *places, n]))
    if not of_levels:
        return None
    steps = n * math.log(of_levels / n) + (2 * len(places) + 1) * math.log(n)
    line = n * math.log(of_line / n) + 2 * math.log(n) if of_line else -math.inf
    if line + LEAST_EVIDENCE >= steps:
        return None
    return Trend(mean - slope * centre, mean + slope * centre)


def _squares(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)
