"""UDP loss against offered load: the capacity it tells, where it begins, and whether a full link explains it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from apps.bench import knee, units
from apps.bench.network.full_links import BEYOND, PLATEAU, exponent_of, full_of, plateau_of
from apps.bench.network.loads import Chance, LoadPoint, chance_of, said_of_silence
from apps.bench.text import Message, _

# Loads are read with their curve.
__all__ = ["Chance", "LoadPoint", "LossCurve", "analyse"]

# A rate that loses less than this is one that the path carries.
THRESHOLD = 0.005
# Loss of more than this many times what a full link explains has another cause.
EXCESS = 2.0


@dataclass(frozen=True)
class LossCurve:
    """What a sweep of offered loads tells.

    `whole` is the highest load (bit/s) with a loss under `threshold`, None if every load lost more: the path carries
    so much at least. `lossy` is the least load with more loss, None if none had; loads whose ends were seen to drop
    are in neither, but in `held`, the least of them, and loads that lost more in some runs only, or of which nothing
    arrived, are in none.
    `plateau` is what arrives whatever is offered, None unless it stays the same as more is offered: what one flow of
    datagrams can have. `knee` is of what arrived over what was offered, `bend` where it lies if loads on both sides
    bear it out. `full` is the capacity (bit/s) of the link whose
    being full would explain the loss; `exponent` the n of loss = 1 - (full / R)^n over the loads beyond it, 1 for a
    link that is simply full.
    """

    points: tuple[LoadPoint, ...]
    threshold: float
    whole: float | None
    lossy: float | None
    held: float | None
    plateau: float | None
    knee: knee.Knee | None
    full: float | None
    exponent: float | None

    def fluid_loss(self, offered: float) -> float | None:
        """Return the loss of a fluid on a full link: 1 - C / R beyond its capacity, else 0; None without one."""
        if self.full is None:
            return None
        return max(0.0, 1 - self.full / offered) if offered else 0.0

    def excess(self, point: LoadPoint) -> float | None:
        """Return how many times the loss of the fluid a point lost, None where the comparison says nothing."""
        fluid = self.fluid_loss(point.offered)
        if fluid is None or self.full is None or point.offered < BEYOND * self.full or not fluid:
            return None
        if point.is_held or point.is_silent or point.is_uneven(self.threshold):
            return None
        return point.loss / fluid

    @property
    def worst(self) -> LoadPoint | None:
        """Return the point whose loss exceeds that of a full link the most, None if none exceeds it."""
        beyond = [(ratio, point) for point in self.points if (ratio := self.excess(point)) and ratio > EXCESS]
        return max(beyond, key=lambda pair: pair[0])[1] if beyond else None

    @property
    def bend(self) -> float | None:
        """Return the load (bit/s) of the knee, None where what arrives beyond it is not one plateau.

        It must fit: no load up to it arrived short of what was offered, and none beyond it whole or more than level.
        """
        if self.knee is None or not self.knee.is_clear or self.plateau is None:
            return None
        at, level = self.knee.at, self.plateau
        fits = all(abs(point.delivered - min(point.offered, level)) <= PLATEAU * level for point in self.free)
        is_beyond = bool(self.free) and self.free[-1].offered > (1 + PLATEAU) * max(at, level)
        return at if fits and is_beyond and abs(at - level) <= PLATEAU * level else None

    @property
    def arrived(self) -> float:
        """Return the most that arrived of any load (bit/s)."""
        return max(point.delivered for point in self.points)

    def chance_below(self, capacity: float) -> Chance | None:
        """Return what chance takes of loads far below a capacity (bit/s), and below what one flow can have.

        None where the loss grows with the load, is hardly any, or is that of one load to which a limit may hold it.
        """
        level = min(capacity, self.plateau or self.full or self.whole or capacity)
        return chance_of(self.arrivals, level)

    @property
    def free(self) -> list[LoadPoint]:
        """Return the loads below the least whose ends were seen to drop: beyond it nobody knows what would arrive.

        Those that lost much in some runs only are left out: their mean is what none of the runs had.
        """
        return [
            point
            for point in self.arrivals
            if (self.held is None or point.offered < self.held) and not point.is_uneven(self.threshold)
        ]

    @property
    def arrivals(self) -> list[LoadPoint]:
        """Return the loads of which something arrived."""
        return [point for point in self.points if not point.is_silent]

    @property
    def uneven(self) -> list[LoadPoint]:
        """Return the loads that lost much in some runs, and far less in others."""
        return [point for point in self.points if point.is_uneven(self.threshold) and not point.is_held]

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
            "capacity": self.plateau,
            "whole": self.whole,
            "lossy": self.lossy,
            "held": self.held,
            "knee": self.bend,
            "plateau": self.plateau if self.bend else None,
            "full": self.full,
            "exponent": self.exponent,
            "conclusions": [message.as_json() for message in self.conclusions],
        }


def analyse(points: Iterable[LoadPoint], threshold: float = THRESHOLD) -> LossCurve | None:
    """Return what points, one for each offered load, tell; None for none. ValueError for what no measurement gives.

    Several measurements of a load are to be averaged before.
    """
    ordered = sorted(points, key=lambda point: point.offered)
    for point in ordered:
        if not (math.isfinite(point.offered) and point.offered > 0 and 0 <= point.loss <= 1):
            raise ValueError(f"a load of {point.offered} bit/s with a loss of {point.loss} cannot be")
    if not ordered:
        return None
    whole = max((point.offered for point in ordered if point.loss < threshold), default=None)
    lossy = [point for point in ordered if point.loss >= threshold]
    own = [point for point in lossy if not (point.is_held or point.is_silent or point.is_uneven(threshold))]
    # Of a load whose ends were seen to drop nobody knows what the path would have let arrive; the mean of runs that
    # were not alike is what none of them had.
    free = [point for point in ordered if point in own or point.loss < threshold]
    bend = knee.find_knee([point.offered for point in free], [point.delivered for point in free]) if free else None
    plateau = plateau_of(whole, own)
    full = full_of(whole, plateau, bend, bool(own))
    return LossCurve(
        points=tuple(ordered),
        threshold=threshold,
        whole=whole,
        lossy=min((point.offered for point in own), default=None),
        held=min((point.offered for point in lossy if point.is_held and not point.is_silent), default=None),
        plateau=plateau,
        knee=bend,
        full=full,
        exponent=exponent_of(
            [point for point in ordered if not (point.is_silent or point.is_uneven(threshold))], full
        ),
    )


def _conclude(curve: LossCurve) -> Iterable[Message]:
    if curve.arrivals and (limit := _limit(curve)):
        yield limit
    if silence := said_of_silence(curve.points):
        yield silence
    if uneven := curve.uneven:
        text = _(
            "In %(count)s of %(runs)s runs at %(loads)s %(share)s %% or more was lost, in the others far less:"
            " that is not enough to tell chance from a burst. Measure it more often."
        )
        params = {
            "count": str(sum(point.lossy_runs(curve.threshold) for point in uneven)),
            "runs": str(sum(len(point.runs) for point in uneven)),
            "loads": ", ".join(_rate(point.offered) for point in uneven),
            "share": f"{100 * curve.threshold:g}",
        }
        yield Message(text, params)
    if curve.whole is not None and curve.lossy is not None and curve.lossy < curve.whole:
        text = _("%(rate)s already lost more: the loss does not grow with the load alone.")
        yield Message(text, {"rate": _rate(curve.lossy)})
    if curve.bend and curve.plateau:
        text = _("The knee lies at %(at)s; beyond it %(plateau)s arrive, whatever was offered up to %(most)s.")
        highest_load = curve.free[-1].offered
        yield Message(text, {"at": _rate(curve.bend), "plateau": _rate(curve.plateau), "most": _rate(highest_load)})
    yield from _explain(curve)


def _limit(curve: LossCurve) -> Message | None:
    """Return the capacity where the loads find one, else within which bounds it lies; None without any."""
    values: dict[str, object] = {"share": f"{100 * curve.threshold:g}", "rate": _rate(curve.whole or 0.0)}
    beyond = curve.lossy if curve.lossy and curve.lossy > (curve.whole or 0.0) else None
    if curve.whole is None and curve.held is not None:
        text = _(
            "All loads lost %(share)s %% or more, and their ends were seen to drop or lag: "
            "that tells nothing of the path."
        )
    elif curve.whole is None and curve.plateau:
        text = _("Every load lost %(share)s %% or more: one flow of datagrams can have less than %(rate)s.")
        values["rate"] = _rate(curve.points[0].offered)
    elif curve.whole is None and (chance := curve.chance_below(curve.arrived)):
        text = _(
            "Each load from %(least)s to %(most)s lost about the same, %(share)s %%: no path that is full, but chance"
            " or short outages."
        )
        values["share"] = f"{100 * chance.share:.2g}"
        values |= {"least": _rate(chance.loads[0].offered), "most": _rate(chance.loads[-1].offered)}
        if len(chance.loads) == 1:
            text = _(
                "A load of %(least)s lost %(share)s %%, though more came through: chance or short outages, and no"
                " path that is full."
            )
    elif curve.whole is None and curve.lossy is None:
        return None
    elif curve.whole is None:
        text = _("All loads lost %(share)s %% or more: offer less, to tell a path that is full from loss by chance.")
    elif curve.plateau:
        text = _(
            "Loss stays below %(share)s %% up to an offered load of %(load)s, and of more %(rate)s arrive: "
            "so much one flow of datagrams can have."
        )
        values |= {"load": _rate(curve.whole), "rate": _rate(curve.plateau)}
    elif curve.held is not None and not beyond:
        text = _(
            "%(rate)s arrived with a loss below %(share)s %%: the path carries so much or more. "
            "Of higher loads the ends were seen to drop or lag, which tells nothing of it."
        )
    elif beyond:
        text = _(
            "Loss stays below %(share)s %% up to an offered load of %(rate)s, and %(more)s lost more: "
            "what one flow of datagrams can have lies in between, or more is lost than a full link loses."
            " Offer loads in smaller steps."
        )
        values["more"] = _rate(beyond)
    else:
        text = _("No load lost %(share)s %%: the path carries %(rate)s or more. Offer more to find its capacity.")
        if curve.lossy or curve.uneven or len(curve.arrivals) < len(curve.points):
            text = _("%(rate)s arrived with a loss below %(share)s %%: the path carries so much or more.")
    return Message(text, values)


def _explain(curve: LossCurve) -> Iterable[Message]:
    """Yield whether a full link explains the loss, and what else might."""
    points = [point for point in curve.points if curve.excess(point) is not None]
    if not points or curve.full is None:
        return
    worst = curve.worst
    if worst is None and not curve.plateau:
        return
    if worst is None:
        # One flow tells no link from a limit on each flow: several streams of TCP would.
        text = _(
            "The loss beyond it is that of something of %(rate)s that is simply full (1 − C/R): a link, a limit on"
            " the flow, or an end that takes no more datagrams a second."
        )
        yield Message(text, {"rate": _rate(curve.full)})
        return
    yield from explain_excess(curve)


def explain_excess(curve: LossCurve) -> Iterable[Message]:
    """Yield by how much more is lost than a full link loses, and what to look for; nothing where it is not."""
    worst = curve.worst
    if worst is None or curve.full is None:
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
