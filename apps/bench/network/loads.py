"""What became of offered loads of datagrams, and what chance takes of those that fill nothing."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

# Loads below this share of the capacity fill no queue.
QUIET = 0.7
# Less than this is what long paths always lose now and then.
LEAST_CHANCE = 5e-5
# Chance takes the same share of every load, within what counting few losses scatters.
ALIKE = 4
# More than this many times what arrived of a load shows that nothing held that load to it.
ABOVE = 1.1


@dataclass(frozen=True)
class LoadPoint:
    """What became of one offered load: rates in bit/s of payload, loss 0 to 1, jitter in s (None if unknown).

    `is_held` says that a judge saw its ends drop datagrams or send too slowly: its loss tells nothing of the path.
    """

    offered: float
    loss: float
    jitter: float | None = None
    goodput: float | None = None
    is_held: bool = False

    @property
    def delivered(self) -> float:
        """Return what of the load arrived (bit/s).

        Unlike the goodput, whose time holds the draining of the queue, it is free of how long the run was.
        """
        return self.offered * (1 - self.loss)


@dataclass(frozen=True)
class Chance:
    """The share (0 to 1) that is lost of every load that fills nothing, and these loads, the least first."""

    share: float
    loads: tuple[LoadPoint, ...]


def chance_of(points: Iterable[LoadPoint], level: float) -> Chance | None:
    """Return what chance takes of the loads far below a level (bit/s).

    None where the loss grows with the load, is hardly any, or is that of one load to which a limit may hold it.
    """
    listed = sorted(points, key=lambda point: point.offered)
    quiet = tuple(point for point in listed if point.offered <= QUIET * level and not point.is_held)
    losses = [point.loss for point in quiet]
    if not quiet or min(losses) < LEAST_CHANCE or max(losses) > ALIKE * min(losses):
        return None
    # Of one load a limit on the flow takes as much as chance does, unless another load brought more through.
    max_delivered = max(point.delivered for point in quiet)
    if len(quiet) == 1 and max(point.delivered for point in listed) < ABOVE * max_delivered:
        return None
    return Chance(math.fsum(losses) / len(losses), quiet)
