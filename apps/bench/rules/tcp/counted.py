"""Which share of datagrams is lost, as far as the number that were sent and lost carries one."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.bench.network.loads import LEAST_CHANCE, LoadPoint
from apps.bench.rules import pace
from apps.bench.rules.base import Point
from apps.bench.rules.told import known_or_none

# The datagram of tools that were not told another size (B), and the quantile of 95 %.
USUAL_DATAGRAM, QUANTILE = 1448, 1.96
# A share whose interval begins below this part of it is not known: fewer than eight lost, or all in one run.
KNOWN = 0.5


@dataclass(frozen=True)
class Counted:
    """The share (0 to 1) that was lost of so many datagrams, and its 95 % interval."""

    share: float
    low: float
    high: float
    lost: float
    sent: float

    @property
    def is_known(self) -> bool:
        """Return whether it tells a share at all, and more than what long paths always lose now and then."""
        return self.low >= max(KNOWN * self.share, LEAST_CHANCE)


def sent_in(point: Point, offered: float) -> float | None:
    """Return how many datagrams a run of a point sends at a load (bit/s), None where how long it ran is not known."""
    seconds, size = known_or_none(point.parameters, "duration"), known_or_none(point.parameters, "length")
    return offered * float(seconds) / 8 / float(size or USUAL_DATAGRAM) if seconds else None


def count(points: Iterable[tuple[Point, float]], loads: Sequence[LoadPoint]) -> Counted | None:
    """Return what was lost of these loads, of points with what each offered (bit/s); None where nobody can count.

    The interval is Wilson's; where runs lose more unevenly than chance does, of as many fewer datagrams.
    """
    rates = {float(f"{load.offered:.3g}") for load in loads}
    runs: list[tuple[float, float]] = []
    for original, offered in points:
        if float(f"{offered:.3g}") not in rates:
            continue
        point, sent = pace.undisturbed(original), sent_in(original, offered)
        if sent is None:
            return None
        runs += [(loss * sent, sent) for loss in point.values("loss") if 0 <= loss <= 1]
    sent = math.fsum(own for _lost, own in runs)
    lost = math.fsum(own for own, _sent in runs)
    if not 0 < lost < sent:
        return None
    share = lost / sent
    # How much more than chance runs differ: bursts, or a cause that came and went.
    chi = math.fsum((own - share * of) ** 2 / (of * share * (1 - share)) for own, of in runs)
    spread = max(1.0, chi / (len(runs) - 1)) if len(runs) > 1 else 1.0
    return Counted(share, *_wilson(share, sent / spread), lost, sent)


def _wilson(share: float, n: float) -> tuple[float, float]:
    """Return the 95 % interval of a share of n (Wilson, 1927)."""
    square = QUANTILE**2 / n
    middle = share + square / 2
    width = QUANTILE * math.sqrt(share * (1 - share) / n + square / (4 * n))
    return (middle - width) / (1 + square), (middle + width) / (1 + square)
