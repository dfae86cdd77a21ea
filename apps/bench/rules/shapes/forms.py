"""The shape of a curve over numbers, measured or printed."""

import math
from collections.abc import Iterable
from typing import Any

from apps.bench import statistics
from apps.bench.knee import NEAR, find_knee
from apps.bench.rules.base import Evidence, Trend
from apps.bench.rules.shapes.curves import ONCE_OF_TWO, Curve, curves
from apps.bench.rules.shapes.names import canonical, is_number
from apps.bench.text import Message, _

RISES, FLAT, FALLS, SATURATES, UNCLEAR = "rises", "flat", "falls", "saturates", "unclear"
# Rates within this share of each other are one rate.
EQUAL = 0.05
# A curve that ends this far below its best falls.
FALL = 0.10
# Of so many figures that nobody repeated a plateau consists; and so much smaller is the chance of one step.
LEVEL_ONCE, STEPS = 3, 2.5
# So seldom what is told of contradicting repetitions may be chance.
CHANCE = 0.05


def trends(evidence: Evidence, *, factor: str, metric: str = "", tool: str = "") -> list[Trend]:
    """Return how metrics go with a factor of numbers: the trends printed, and those of the points.

    A curve that scatters, differs no more than by chance, or has no shape gives none.
    """
    candidates = [trend for trend, _curve in shaped(evidence, factor=factor)]
    return [trend for trend in candidates if metric in ("", trend.metric) and tool in ("", trend.tool)]


def shaped(evidence: Evidence, *, factor: str) -> list[tuple[Trend, Curve | None]]:
    """Return the trends over a factor, each with the curve that it was computed from (None: it is printed)."""
    printed_trends: list[tuple[Trend, Curve | None]] = [
        (trend, None) for trend in evidence.trends if canonical(trend.tool, trend.factor) == factor
    ]
    return printed_trends + [
        (trend, curve) for curve in curves(evidence, factor=factor) if (trend := trend_of(curve))
    ]


def unmeasured_before(knee: float | None, counts: Iterable[float]) -> tuple[Message, ...]:
    """Return that a level may begin below the first number on it; () where none lies between."""
    below = max((count for count in counts if knee is not None and count < knee), default=None)
    if knee is None or below is None or knee - below <= 1:
        return ()
    text = _("It levels off at %(knee)s at the latest: between %(below)s and %(knee)s nothing was measured.")
    return (Message(text, {"knee": f"{knee:g}", "below": f"{below:g}"}),)


def trend_of(curve: Curve) -> Trend | None:
    """Return the shape of a curve over numbers, None if it has none that the repetitions bear out.

    Flat if all means are within 5 %; it falls if it ends surely below its best; it saturates if a broken stick fits
    it and more than its last value is the plateau; it rises if it ends at its best, above the one before, and fell
    nowhere; else it is ``unclear`` if it surely grew. The `knee` of one that falls is its best. Where an end was at
    its limit only that it rises, or is unclear, is told.
    """
    means = curve.means
    if not all(is_number(x) for x in means) or min(means.values()) < 0 or curve.is_scattered:
        return None
    xs, ys = list(means), list(means.values())
    top = max(ys)
    if top <= 0:
        return None
    if min(ys) >= (1 - EQUAL) * top:
        return None if curve.held_values else _trend(curve, FLAT, None, math.fsum(ys) / len(ys))
    if top - min(ys) < curve.chance:
        return None
    # Two places alone differ by a few per cent by chance more often than their repetitions tell.
    if ys[-1] < (1 - (EQUAL if len(ys) > 2 else FALL)) * top and _falls(curve, ys):
        return None if _is_held(curve, xs[ys.index(top)]) else _trend(curve, FALLS, float(xs[ys.index(top)]), top)
    if ys[-1] < (1 - FALL) * top:
        return None
    if plateau := _plateau(curve, xs, ys):
        return None if _is_held(curve, plateau[0]) else _trend(curve, SATURATES, *plateau)
    # One step alone is surer than the largest of all.
    step = curve.chance / STEPS
    # What fell on its way does not grow with the factor, though it ends at its best.
    dip = max(before - after for place, before in enumerate(ys) for after in ys[place:])
    sure = max(EQUAL * top, step)
    if ys[-1] >= top and ys[-1] - ys[-2] >= sure > dip and ys[-1] - ys[0] >= curve.chance:
        return _trend(curve, RISES, None, top)
    threshold = curve.chance if curve.error is not None else max(curve.chance, ONCE_OF_TWO * top)
    return _trend(curve, UNCLEAR, None, top) if ys[-1] - ys[0] >= threshold else None


def scattered(evidence: Evidence, *, factor: str) -> list[tuple[Trend, Curve]]:
    """Return the curves whose repetitions contradict each other and that surely grew all the same, as ``unclear``.

    Each run at the last value had more than each at the first, which by chance is as rare as their number says.
    """
    grown = []
    for curve in curves(evidence, factor=factor):
        first, *_between, last = (list(cell.values()) for cell in curve.cells.values())
        is_rare = math.comb(len(first) + len(last), len(last)) * CHANCE >= curve.looked
        if (
            curve.is_scattered
            and is_rare
            and 0 < min(first) <= max(first) < min(last)
            and all(map(is_number, curve.cells))
        ):
            grown.append((_trend(curve, UNCLEAR, None, max(curve.means.values())), curve))
    return grown


def _is_held(curve: Curve, start: float) -> bool:
    """Return whether an end set the pace somewhere from a value on: what is seen there is that end's limit."""
    return any(value >= start for value in curve.held_values)


def _falls(curve: Curve, ys: list[float]) -> bool:
    """Return whether a curve surely ends below its best; of figures that nobody repeated below two of them."""
    best = sorted(ys)[-2] if curve.error is None and len(ys) > 2 else max(ys)
    return best - ys[-1] >= curve.chance


def _plateau(curve: Curve, xs: list[Any], ys: list[float]) -> tuple[float, float] | None:
    """Return from where on a curve is level, and at what; None if it is no broken stick, or too few bear it out."""
    knee = find_knee(xs, ys) if min(xs) > 0 else None
    if not knee or not knee.is_clear or max(ys) > (1 + NEAR) * knee.plateau or knee.smallest >= xs[-1]:
        return None
    place = xs.index(knee.smallest)
    # Of figures that nobody repeated one more that is as high may have come out low.
    if curve.error is None and len(xs) - place < LEVEL_ONCE:
        return None
    level = [list(curve.cells[x].values()) for x in xs[place:]]
    # What goes on falling from place to place is no more level than what goes on rising.
    if statistics.still_rises(level) or statistics.still_rises(level[::-1]):
        return None
    before = ys[place - 1] if place else 0.0
    is_bent = min(ys[place:]) - before >= curve.chance / STEPS if curve.error is not None else True
    return (knee.smallest, knee.plateau) if is_bent else None


def _trend(curve: Curve, shape: str, knee: float | None, best: float) -> Trend:
    return Trend(
        tool=curve.tool,
        metric=curve.metric,
        factor=curve.factor,
        shape=shape,
        knee=knee,
        best=best,
        file_system=curve.file_system,
        fixed=curve.fixed,
        trials=curve.trials,
        apart=curve.apart,
    )


def same(trend: Trend, **fixed: Any) -> bool:
    """Return whether a trend was found at these values, as far as it tells of them."""
    return all(trend.fixed.get(name, value) == value for name, value in fixed.items())
