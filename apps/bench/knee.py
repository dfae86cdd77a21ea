"""The saturation knee of a curve: where more of a factor stops to give more of a rate."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

# A value within this share of the plateau counts as the plateau (the smallest such value is what to recommend).
NEAR = 0.05
# Of a curve that is no broken stick the fit says little: its relative residual is above this.
MOST_RESIDUAL = 0.15
# A curve has bent if its slope leads this share of the plateau above it at the last x: noise alone does not.
BENT = 0.10
# Residuals below this are those of figures, not of the form.
LEAST_RESIDUAL = 0.005


@dataclass(frozen=True)
class Knee:
    """A broken stick y = min(a x, C) fitted to a curve.

    `at` is C / a, in the unit of x; `plateau` is C and `slope` a; `residual` the root mean square of the fit's errors
    over C, 0 for a perfect stick; `smallest` the least measured x whose y is within 5 % of the plateau; `best` the
    measured x of the highest y; `is_reached` says whether the last point lies clearly beyond the knee, and so below
    a x: of a straight line noise leaves it a little below as often as above. `smooth` is the residual of the best
    curve that bends everywhere and nowhere, C x / (x + h).
    """

    at: float
    plateau: float
    slope: float
    residual: float
    smallest: float
    best: float
    is_reached: bool
    smooth: float = math.inf

    @property
    def is_clear(self) -> bool:
        """Return whether the curve is a broken stick, rather than a smooth one, bent within what was measured."""
        is_stick = self.residual <= MOST_RESIDUAL and self.residual <= max(self.smooth, LEAST_RESIDUAL)
        return self.is_reached and is_stick


def find_knee(xs: Sequence[float], ys: Sequence[float]) -> Knee | None:
    """Return the knee of the points (x > 0, y >= 0, one y for each x, any order), None if there can be none.

    Fewer than three points have none, nor has a flat curve, whose values are all within 5 % of the highest.
    The stick is fitted by least squares for each split of the points into a slope through the origin and a plateau,
    and the best split is kept: a window- or stream-limited rate is X = N W 8 / RTT up to the capacity. Chosen over
    Kneedle (Satopää et al., 2011), which on such curves depends on its sensitivity and on where the sweep ends.
    ValueError if lengths differ, an x is not positive or repeats, or a value is not finite.
    """
    points = sorted(zip(xs, ys, strict=True))
    if not all(math.isfinite(x) and math.isfinite(y) and x > 0 and y >= 0 for x, y in points):
        raise ValueError("a knee needs finite points with x above zero")
    if any(a[0] == b[0] for a, b in itertools.pairwise(points)):
        raise ValueError("a knee needs one value for each x")
    highest = max((y for _x, y in points), default=0.0)
    if len(points) < 3 or min(y for _x, y in points) >= (1 - NEAR) * highest:
        return None
    sticks = (_fit(points, split) for split in range(1, len(points) + 1))
    # The whole as a slope always fits somehow, as not every y is zero.
    error, slope, plateau = min(stick for stick in sticks if stick)
    at = plateau / slope
    near = (1 - NEAR) * plateau
    top = max(points, key=lambda point: point[1])
    return Knee(
        at=at,
        plateau=plateau,
        slope=slope,
        residual=math.sqrt(error / len(points)) / plateau,
        smallest=next((x for x, y in points if y >= near), top[0]),
        best=top[0],
        is_reached=(1 + BENT) * at <= points[-1][0],
        smooth=_smooth(points) / plateau,
    )


def _smooth(points: Sequence[tuple[float, float]]) -> float:
    """Return the root mean square of the errors of C x / (x + h), best fitted: h by thirds of its range.

    For each h the best C is that of a line through the origin. What is looked at goes from curves that are flat from
    the first point on to those that are straight up to the last.
    """
    low, high = math.log(points[0][0] / 100), math.log(points[-1][0] * 100)
    while high - low > 0.01:
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if _error_of(points, math.exp(left)) <= _error_of(points, math.exp(right)):
            high = right
        else:
            low = left
    return math.sqrt(_error_of(points, math.exp(low)) / len(points))


def _error_of(points: Sequence[tuple[float, float]], half: float) -> float:
    shares = [x / (x + half) for x, _y in points]
    top = math.fsum(share * y for share, (_x, y) in zip(shares, points, strict=True))
    top /= math.fsum(share * share for share in shares)
    return math.fsum((top * share - y) ** 2 for share, (_x, y) in zip(shares, points, strict=True))


def _fit(points: Sequence[tuple[float, float]], split: int) -> tuple[float, float, float] | None:
    """Return (sum of squared errors, slope, plateau) with the first `split` points on the slope, or None."""
    below, above = points[:split], points[split:]
    slope = sum(x * y for x, y in below) / sum(x * x for x, _y in below)
    if slope <= 0:
        return None
    # Without a point beyond the bend the plateau is at least what was reached.
    plateau = sum(y for _x, y in above) / len(above) if above else slope * below[-1][0]
    if plateau <= 0:
        return None
    error = sum((min(slope * x, plateau) - y) ** 2 for x, y in points)
    return error, slope, plateau
