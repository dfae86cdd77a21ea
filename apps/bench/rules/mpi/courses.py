"""What holds of a measured curve at each of its points, not of its ends alone."""

from typing import Any

from apps.bench.rules import shapes
from apps.bench.rules.base import Ratio
from apps.bench.rules.mpi.settings import COSTS
from apps.bench.rules.shapes import EQUAL, Curve

# An advised setting is no worse than another measured one, beyond the scatter, by more than this factor.
WORSE = 1.02


def tolerance(curve: Curve) -> float:
    """Return by how much (in the metric's unit) two means may differ and still be one, by scatter or as rates are."""
    return max(curve.chance_alone, EQUAL * max(curve.means.values()))


def rises_throughout(curve: Curve) -> bool:
    """Return whether no mean lies surely below one at a smaller value."""
    return not _turns(list(curve.means.values()), tolerance(curve))


def falls_throughout(curve: Curve) -> bool:
    """Return whether no mean lies surely above one at a smaller value."""
    return not _turns(list(curve.means.values())[::-1], tolerance(curve))


def is_straight(curve: Curve) -> bool:
    """Return whether the means between the first and the last value lie on the line through those two."""
    means = curve.means
    near, far = min(means), max(means)
    step = (means[far] - means[near]) / (far - near)
    # Of a line that itself hardly rises five per cent of the rates would be all of it.
    allowed = max(curve.chance_alone, EQUAL * abs(means[far] - means[near]))
    return all(abs(mean - means[near] - step * (value - near)) <= allowed for value, mean in means.items())


def last_near_best(curve: Curve) -> float:
    """Return the largest value whose mean is within 5 % of the highest: beyond it all are lower."""
    top = max(curve.means.values())
    return float(max(value for value, mean in curve.means.items() if mean >= (1 - EQUAL) * top))


def best_of(curve: Curve) -> Any:
    """Return the value with the best mean: the highest rate, or the shortest time."""
    choose = min if curve.metric in COSTS else max
    return choose(curve.means, key=lambda value: curve.means[value])


def fewest_as_good(curve: Curve) -> Any:
    """Return the smallest value that is within 5 % of the best, and not surely worse than it by 2 %."""
    best = best_of(curve)
    for value, mean in curve.means.items():
        ratio = mean / curve.means[best] if curve.means[best] else 1.0
        share = 1 / ratio if curve.metric in COSTS and ratio else ratio
        if share >= 1 - EQUAL and not is_surely_worse(curve, value, best):
            return value
    return best


def gain(curve: Curve, of: Any, to: Any) -> Ratio | None:
    """Return how many times as good one value is as another (of times: their inverse), None without figures."""
    for ratio in shapes.ratios_of(curve):
        sides = ratio.of[curve.factor], ratio.to[curve.factor]
        if sides in ((of, to), (to, of)):
            # Of times the smaller side is the better.
            return ratio if (sides == (of, to)) != (curve.metric in COSTS) else shapes.inverse(ratio)
    return None


def is_surely_worse(curve: Curve, value: Any, than: Any) -> bool:
    """Return whether a value is worse than another by more than 2 %, beyond the scatter."""
    ratio = gain(curve, than, value)
    return ratio is not None and ratio.low > WORSE


def is_best(curve: Curve, value: Any) -> bool:
    """Return whether no other measured value is surely better."""
    return not any(is_surely_worse(curve, value, other) for other in curve.cells if other != value)


def _turns(means: list[float], allowed: float) -> bool:
    top = means[0]
    for mean in means:
        if mean < top - allowed:
            return True
        top = max(top, mean)
    return False
