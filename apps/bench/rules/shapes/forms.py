"""The shape of a curve over numbers, measured or printed."""

import math
from typing import Any

from apps.bench.knee import NEAR, find_knee
from apps.bench.rules.base import Evidence, Trend
from apps.bench.rules.shapes.curves import Curve, curves
from apps.bench.rules.shapes.names import canonical, is_number

RISES, FLAT, FALLS, SATURATES = "rises", "flat", "falls", "saturates"
# Rates within this share of each other are one rate.
EQUAL = 0.05
# A curve that ends this far below its best falls.
FALL = 0.10


def trends(evidence: Evidence, *, factor: str, metric: str = "", tool: str = "") -> list[Trend]:
    """Return how metrics go with a factor of numbers: the trends printed, and those of the points.

    A curve that scatters, differs no more than by chance, or has no shape gives none.
    """
    found = [trend for trend, _curve in shaped(evidence, factor=factor)]
    return [trend for trend in found if metric in ("", trend.metric) and tool in ("", trend.tool)]


def shaped(evidence: Evidence, *, factor: str) -> list[tuple[Trend, Curve | None]]:
    """Return the trends over a factor, each with the curve that it was computed from (None: it is printed)."""
    printed: list[tuple[Trend, Curve | None]] = [
        (trend, None) for trend in evidence.trends if canonical(trend.tool, trend.factor) == factor
    ]
    return printed + [(trend, curve) for curve in curves(evidence, factor=factor) if (trend := trend_of(curve))]


def trend_of(curve: Curve) -> Trend | None:
    """Return the shape of a curve over numbers, None if it has none that the repetitions bear out.

    Flat if all means are within 5 %; it falls if it ends 10 % below its best; it saturates if a broken stick fits it
    and more than its last value is the plateau; it rises if it ends at its best. The `knee` of one that falls is its
    best.
    """
    means = curve.means
    if not all(is_number(x) for x in means) or min(means.values()) < 0 or curve.is_scattered:
        return None
    xs, ys = list(means), list(means.values())
    top = max(ys)
    if top <= 0:
        return None
    peak = xs[ys.index(top)]
    if min(ys) >= (1 - EQUAL) * top:
        shape, at, best = FLAT, None, math.fsum(ys) / len(ys)
    elif curve.is_chance:
        return None
    elif ys[-1] < (1 - FALL) * top:
        shape, at, best = FALLS, float(peak), top
    else:
        knee = find_knee(xs, ys) if min(xs) > 0 else None
        if knee and knee.is_clear and top <= (1 + NEAR) * knee.plateau and knee.smallest < xs[-1]:
            shape, at, best = SATURATES, knee.smallest, knee.plateau
        elif ys[-1] >= (1 - EQUAL) * top:
            shape, at, best = RISES, None, top
        else:
            return None
    return Trend(
        tool=curve.tool,
        metric=curve.metric,
        factor=curve.factor,
        shape=shape,
        knee=at,
        best=best,
        file_system=curve.file_system,
        fixed=curve.fixed,
        trials=curve.trials,
    )


def same(trend: Trend, **fixed: Any) -> bool:
    """Return whether a trend was found at these values, as far as it tells of them."""
    return all(trend.fixed.get(name, value) == value for name, value in fixed.items())
