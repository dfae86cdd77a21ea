"""UDP loss against offered load: the capacity it tells, where it begins, and whether a full link explains it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench import knee, units
from apps.bench.text import Message, _

# A rate that loses less than this is one that the path carries (rule R14).
THRESHOLD = 0.005
# Loss is compared with the model only this far beyond the capacity: closer by, noise decides.
BEYOND = 1.02
# Loss of more than this many times what a full link explains has another cause.
EXCESS = 2.0


@dataclass(frozen=True)
class Point:
    """What became of one offered load: rates in bit/s of payload, loss 0 to 1, jitter in s (None if unknown)."""

    offered: float
    loss: float
    jitter: float | None = None
    goodput: float | None = None

    @property
    def delivered(self) -> float:
        """Return what of the load arrived (bit/s).

        Unlike the goodput, whose time holds the draining of the queue, it is free of how long the run was.
        """
        return self.offered * (1 - self.loss)


@dataclass(frozen=True)
class LossCurve:
    """What a sweep of offered loads tells.

    `capacity` is the highest load (bit/s) with a loss under `threshold`, None if every load lost more; `lossy` the
    least load with more loss, None if none had; `knee` is of what arrived over what was offered. `full` is the
    capacity (bit/s) of the link whose being full would explain the loss; `exponent` the n of loss = 1 - (full / R)^n
    over the loads beyond it, 1 for a link that is simply full.
    """

    points: tuple[Point, ...]
    threshold: float
    capacity: float | None
    lossy: float | None
    knee: knee.Knee | None
    full: float | None
    exponent: float | None

    def fluid_loss(self, offered: float) -> float | None:
        """Return the loss of a fluid on a full link: 1 - C / R beyond its capacity, else 0; None without one."""
        if self.full is None:
            return None
        return max(0.0, 1 - self.full / offered) if offered else 0.0

    def excess(self, point: Point) -> float | None:
        """Return how many times the loss of the fluid a point lost, None where the comparison says nothing."""
        fluid = self.fluid_loss(point.offered)
        if fluid is None or self.full is None or point.offered < BEYOND * self.full or not fluid:
            return None
        return point.loss / fluid

    @property
    def worst(self) -> Point | None:
        """Return the point whose loss exceeds that of a full link the most, None if none exceeds it."""
        beyond = [(ratio, point) for point in self.points if (ratio := self.excess(point)) and ratio > EXCESS]
        return max(beyond, key=lambda pair: pair[0])[1] if beyond else None

    @property
    def conclusions(self) -> tuple[Message, ...]:
        """Return what the curve says, in words."""
        return tuple(_conclude(self))

    def as_json(self) -> dict[str, Any]:
        """Return the curve as plain JSON values; rates in bit/s."""
        return {
            "points": [
                {**vars(point), "fluid_loss": self.fluid_loss(point.offered), "excess": self.excess(point)}
                for point in self.points
            ],
            "threshold": self.threshold,
            "capacity": self.capacity,
            "lossy": self.lossy,
            "knee": self.knee.at if self.knee and self.knee.is_clear else None,
            "plateau": self.knee.plateau if self.knee and self.knee.is_clear else None,
            "full": self.full,
            "exponent": self.exponent,
            "conclusions": [message.as_json() for message in self.conclusions],
        }


def analyse(points: Iterable[Point], threshold: float = THRESHOLD) -> LossCurve | None:
    """Return what points, one for each offered load, tell; None for none. ValueError for what no measurement gives.

    Several measurements of a load are to be averaged before.
    """
    ordered = sorted(points, key=lambda point: point.offered)
    for point in ordered:
        if not (math.isfinite(point.offered) and point.offered > 0 and 0 <= point.loss <= 1):
            raise ValueError(f"a load of {point.offered} bit/s with a loss of {point.loss} cannot be")
    if not ordered:
        return None
    clean = [point.offered for point in ordered if point.loss < threshold]
    lossy = [point.offered for point in ordered if point.loss >= threshold]
    capacity = max(clean, default=None)
    bend = knee.find_knee([point.offered for point in ordered], [point.delivered for point in ordered])
    full = _full(capacity, bend, bool(lossy))
    return LossCurve(
        points=tuple(ordered),
        threshold=threshold,
        capacity=capacity,
        lossy=min(lossy, default=None),
        knee=bend,
        full=full,
        exponent=_exponent(ordered, full),
    )


def _full(capacity: float | None, bend: knee.Knee | None, has_loss: bool) -> float | None:
    """Return the capacity of the link that would be full: what arrived at most, as far as the curve is flat there.

    Where less arrives the more is offered the curve has no plateau: the highest load without loss stands for it.
    """
    if not has_loss:
        return None
    plateau = bend.plateau if bend and bend.is_clear else None
    known = [value for value in (capacity, plateau) if value]
    return max(known, default=None)


def _exponent(points: Sequence[Point], full: float | None) -> float | None:
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


def _conclude(curve: LossCurve) -> Iterable[Message]:
    share = f"{100 * curve.threshold:g}"
    if curve.capacity is None:
        text = _("Every load lost %(share)s %% or more: the capacity lies below %(rate)s.")
        yield Message(text, {"share": share, "rate": _rate(curve.points[0].offered)})
    elif curve.lossy is None:
        text = _("No load lost %(share)s %%: the capacity is %(rate)s or more. Offer more to find it.")
        yield Message(text, {"share": share, "rate": _rate(curve.capacity)})
    else:
        text = _("Loss stays below %(share)s %% up to an offered load of %(rate)s: that is the capacity for UDP.")
        yield Message(text, {"share": share, "rate": _rate(curve.capacity)})
        if curve.lossy < curve.capacity:
            text = _("%(rate)s already lost more: the loss does not grow with the load alone.")
            yield Message(text, {"rate": _rate(curve.lossy)})
    if curve.knee and curve.knee.is_clear:
        text = _("The knee lies at %(at)s; beyond it %(plateau)s arrive whatever is offered.")
        yield Message(text, {"at": _rate(curve.knee.at), "plateau": _rate(curve.knee.plateau)})
    yield from _explain(curve)


def _explain(curve: LossCurve) -> Iterable[Message]:
    """Yield whether a full link explains the loss, and what else might."""
    compared = [point for point in curve.points if curve.excess(point) is not None]
    if not compared or curve.full is None:
        return
    worst = curve.worst
    if worst is None:
        text = _("The loss beyond it is that of a link of %(rate)s that is simply full (1 − C/R).")
        yield Message(text, {"rate": _rate(curve.full)})
        return
    text = _(
        "At %(offered)s the loss is %(ratio)s times what a full link of %(rate)s explains: "
        "look for datagrams sent in fragments, a receive buffer that overflows, or a policer."
    )
    values = {
        "offered": _rate(worst.offered),
        "ratio": f"{curve.excess(worst) or 0:.1f}",
        "rate": _rate(curve.full),
    }
    yield Message(text, values)
    if curve.exponent and curve.exponent > 1:
        text = _("It is as if each datagram were lost with any of its %(pieces)s pieces (loss = 1 − (C/R)^n).")
        yield Message(text, {"pieces": f"{curve.exponent:.1f}"})


def _rate(value: float) -> str:
    return units.format_quantity(value, "bit/s")
