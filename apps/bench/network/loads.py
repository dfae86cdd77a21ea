"""What became of offered loads of datagrams, and what chance takes of those that fill nothing."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# Loads below this share of the capacity fill no queue.
QUIET = 0.7
# Less than this is what long paths always lose now and then.
LEAST_CHANCE = 5e-5
# Chance takes the same share of every load, within what counting few losses scatters.
ALIKE = 4
# Runs of one load are not alike whose losses scatter by more than this share of their mean (chance does that which
# takes fewer than four a run), or of which one lost less than this part of it (a run that lost nothing by chance).
SCATTER, SPARED = 0.5, 1 / 8
# Where so much of what is offered more arrives, what arrives follows the load.
FOLLOWS = 0.5
# More than this many times what arrived of a load shows that nothing held that load to it.
ABOVE = 1.1


@dataclass(frozen=True)
class LoadPoint:
    """What became of one offered load: rates in bit/s of payload, loss 0 to 1, jitter in s (None if unknown).

    `is_held` says that a judge saw its ends drop datagrams or send too slowly: its loss tells nothing of the path.
    `losses` are those of its runs, whose mean `loss` is; none where nobody told them.
    """

    offered: float
    loss: float
    jitter: float | None = None
    goodput: float | None = None
    is_held: bool = False
    losses: tuple[float, ...] = ()

    @property
    def delivered(self) -> float:
        """Return what of the load arrived (bit/s).

        Unlike the goodput, whose time holds the draining of the queue, it is free of how long the run was.
        """
        return self.offered * (1 - self.loss)

    @property
    def is_silent(self) -> bool:
        """Return whether nothing arrived: neither chance nor a link that is full lets nothing through."""
        return self.loss >= 1

    @property
    def runs(self) -> tuple[float, ...]:
        """Return the loss of each run, the mean of all where they were not told."""
        return self.losses or (self.loss,)

    def lossy_runs(self, threshold: float) -> int:
        """Return in how many of its runs so much (0 to 1) or more was lost."""
        return sum(loss >= threshold for loss in self.runs)

    def is_uneven(self, threshold: float) -> bool:
        """Return whether some runs lost so much (0 to 1), and others far less than the mean of all.

        Neither chance nor a full link does that again and again: it is a burst, or a cause that came and went.
        """
        return 0 < self.lossy_runs(threshold) < len(self.runs) and not are_alike([self])


@dataclass(frozen=True)
class Chance:
    """The share (0 to 1) that is lost of every load that fills nothing, and these loads, the least first."""

    share: float
    loads: tuple[LoadPoint, ...]


def said_of_silence(points: Sequence[LoadPoint]) -> Message | None:
    """Return what may have kept loads from arriving at all; None where something of each arrived."""
    silent = [point for point in points if point.is_silent]
    text = _(
        "Of %(loads)s nothing arrived: a link that is full lets its rate through. The path or an end was away, or"
        " something drops all of such a load."
    )
    if len(silent) == len(points):
        text = _(
            "Nothing arrived of any load: no path that is full, but a firewall or a filter of UDP, or no receiver."
            " Let the port through, and offer the same again."
        )
    loads = ", ".join(format_quantity(point.offered, "bit/s") for point in silent)
    return Message(text, {"loads": loads}) if silent else None


def are_alike(points: Sequence[LoadPoint]) -> bool:
    """Return whether the runs of each load lose about the same, as what chance takes of them does.

    The scatter of chance is one over the root of how many datagrams a run loses, of a burst in one of n runs the
    root of n.
    """
    shares = [[loss / point.loss for loss in point.runs] for point in points if point.loss]
    freedom = sum(len(own) - 1 for own in shares)
    squares = math.fsum((share - 1) ** 2 for own in shares for share in own)
    is_spared = any(min(own) < SPARED for own in shares)
    return not is_spared and (not freedom or math.sqrt(squares / freedom) <= SCATTER)


def chance_of(points: Iterable[LoadPoint], level: float) -> Chance | None:
    """Return what chance takes of the loads far below a level (bit/s).

    None where the loss grows with the load, is hardly any, spares a larger load, or is that of loads to which a limit
    may hold them, of which more offered brings no more; and of a single run, or of runs that differ more than chance
    does: a burst in one of them looks like that.
    """
    listed = sorted(points, key=lambda point: point.offered)
    quiet = tuple(point for point in listed if point.offered <= QUIET * level and not point.is_held)
    losses = [point.loss for point in quiet]
    if not quiet or min(losses) < LEAST_CHANCE or max(losses) > ALIKE * min(losses) or not are_alike(quiet):
        return None
    share = math.fsum(losses) / len(losses)
    if any(point.loss < min(losses) / ALIKE for point in listed if not point.is_held):
        # Chance takes its share of every load.
        return None
    # A single run may have met a burst, unless one of a larger load lost about as much.
    alike = [point for point in listed if not point.is_held and share / ALIKE <= point.loss <= ALIKE * share]
    if sum(len(point.runs) for point in alike) < 2:
        return None
    first, last = quiet[0], quiet[-1]
    if last.offered > first.offered and last.delivered - first.delivered < FOLLOWS * (last.offered - first.offered):
        # Far above a limit on the flow nearly all of any load is lost, and as much arrives of each.
        return None
    # Of one load a limit on the flow takes as much as chance does, unless another load brought more through.
    max_delivered = max(point.delivered for point in quiet)
    if len(quiet) == 1 and max(point.delivered for point in listed) < ABOVE * max_delivered:
        return None
    return Chance(share, quiet)
