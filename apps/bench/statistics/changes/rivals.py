"""What else than changes of level would tell a series: slow waves about one level, a line, a line with a step."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from apps.bench.statistics.changes.sums import LEAST_LEVEL

# Correlations of neighbours that are tried.
CORRELATIONS = tuple(step / 20 for step in range(20)) + (0.97, 0.99)


@dataclass(frozen=True)
class ModelFit:
    """How well a model tells a series: Schwarz's criterion (1978), the less the better.

    `rest` is what it leaves, and `correlation` how alike neighbours are in that (0 to 0.99).
    """

    criterion: float
    rest: tuple[float, ...]
    correlation: float


@dataclass(frozen=True)
class Line:
    """A straight line through a series, `step` higher from the value at `place` on (None: without a step)."""

    start: float
    slope: float
    place: int | None = None
    step: float = 0.0

    def at(self, place: float, *, is_stepped: bool) -> float:
        """Return the line's value at a place, before or after the step."""
        return self.start + self.slope * place + (self.step if is_stepped else 0.0)


def of_levels(values: Sequence[float], places: Sequence[int]) -> ModelFit:
    """Return the fit of levels that change at some places: a number for each level, and one for each place."""
    rest: list[float] = []
    for low, high in pairwise([0, *places, len(values)]):
        mean = math.fsum(values[low:high]) / (high - low)
        rest += [value - mean for value in values[low:high]]
    return _fit(rest, 2 * len(places) + 1)


def line_of(values: Sequence[float]) -> Line:
    """Return the straight line of the least squares."""
    n = len(values)
    centre, mean = (n - 1) / 2, math.fsum(values) / n
    spread = math.fsum((place - centre) ** 2 for place in range(n))
    slope = math.fsum((place - centre) * value for place, value in enumerate(values)) / spread
    return Line(mean - slope * centre, slope)


def stepped_of(values: Sequence[float]) -> Line | None:
    """Return the line with one step of the least squares; None of too few values for a level on both sides.

    What a step takes beyond a line follows from what the line leaves: of the rest r and the step's own rest s it is
    (sum r s)² / sum s².
    """
    n, line = len(values), line_of(values)
    rest = [value - line.at(place, is_stepped=False) for place, value in enumerate(values)]
    centre = (n - 1) / 2
    spread = math.fsum((place - centre) ** 2 for place in range(n))
    best, split, after = 0.0, None, 0.0
    for place in range(n - 1, LEAST_LEVEL - 1, -1):
        after += rest[place]
        count = n - place
        # Of the places from this one on the sum of their distances from the middle.
        lever = count * (place - centre + (count - 1) / 2)
        own = count - count**2 / n - lever**2 / spread
        if count < LEAST_LEVEL or own <= 0:
            continue
        if after**2 / own > best:
            best, split = after**2 / own, (place, after / own, lever, count)
    if split is None:
        return None
    place, step, lever, count = split
    slope = line.slope - step * lever / spread
    mean = math.fsum(values) / n - step * count / n
    return Line(mean - slope * centre, slope, place, step)


def of_line(values: Sequence[float], line: Line) -> ModelFit:
    """Return the fit of a line: two numbers, and two for its step."""
    at = len(values) if line.place is None else line.place
    rest = [value - line.at(place, is_stepped=place >= at) for place, value in enumerate(values)]
    return _fit(rest, 2 if line.place is None else 4)


def _fit(rest: Sequence[float], numbers: int) -> ModelFit:
    """Return the fit of a model by what it leaves, in which each value may have something of the one before.

    The likelihood is that of a stationary series (Box, Jenkins, 1970) at the best of the correlations tried.
    """
    n = len(rest)
    squares = math.fsum(value * value for value in rest)
    if not squares:
        return ModelFit(-math.inf, tuple(rest), 0.0)
    products = math.fsum(a * b for a, b in pairwise(rest))
    ends = rest[0] ** 2 + rest[-1] ** 2

    def minus_log(rho: float) -> float:
        residue = squares - 2 * rho * products + rho * rho * (squares - ends)
        return n * math.log(max(residue, squares * 1e-15) / n) - math.log1p(-rho * rho)

    rho = min(CORRELATIONS, key=minus_log)
    return ModelFit(minus_log(rho) + (numbers + 1) * math.log(n), tuple(rest), rho)
