"""What loads of datagrams that lose some tell of the link that is full: its plateau, its capacity, its exponent."""

import math
from collections.abc import Sequence

from apps.bench import knee
from apps.bench.network.loads import FOLLOWS, LoadPoint

# Loss is compared with the model only this far beyond the capacity: closer by, noise decides.
BEYOND = 1.02
# What arrives of different loads is one plateau within this share.
PLATEAU = 0.03


def plateau_of(whole: float | None, lossy: Sequence[LoadPoint]) -> float | None:
    """Return what arrives whatever is offered: alike of all loads beyond `whole`, and of more than one load.

    The highest load that arrived whole counts as one, for it may lie just at the plateau. Of loads that are alike
    themselves what arrives is so, too, whatever takes a share of it: most of what is offered more must not arrive.
    """
    beyond = [(point.offered, point.delivered) for point in lossy if point.offered > (whole or 0.0)]
    arrived = [delivered for _offered, delivered in beyond]
    own = [(whole, whole)] if whole and arrived and whole >= (1 - PLATEAU) * min(arrived) else []
    delivered_rates = [delivered for _offered, delivered in [*own, *beyond]]
    if (
        len(delivered_rates) < 2
        or min(delivered_rates) < (1 - PLATEAU) * max(delivered_rates)
        or (whole or 0.0) > (1 + PLATEAU) * min(arrived)
    ):
        return None
    (lowest_load, first), (highest_load, last) = min([*own, *beyond]), max([*own, *beyond])
    if last - first > FOLLOWS * (highest_load - lowest_load):
        return None
    return math.fsum(arrived) / len(arrived)


def full_of(whole: float | None, plateau: float | None, bend: knee.Knee | None, has_loss: bool) -> float | None:
    """Return the capacity of the link that would be full: what arrived at most, as far as the curve is flat there.

    Where less arrives the more is offered the curve has no plateau: the highest load without loss stands for it.
    """
    if not has_loss:
        return None
    if plateau:
        return plateau
    bent = bend.plateau if bend and bend.is_clear else None
    return max((value for value in (whole, bent) if value), default=None)


def exponent_of(points: Sequence[LoadPoint], full: float | None) -> float | None:
    """Return n of loss = 1 - (C / R)^n by least squares of the logarithms; None without a point to tell it.

    If a datagram arrives only when each of n pieces does, and each does with C / R, that is the loss.
    """
    if full is None:
        return None
    pairs = [
        (math.log(full / point.offered), math.log(1 - point.loss))
        for point in points
        if point.offered >= BEYOND * full and point.loss < 1
    ]
    squares = sum(x * x for x, _y in pairs)
    return sum(x * y for x, y in pairs) / squares if squares else None
