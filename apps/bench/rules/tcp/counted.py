"""Which share of datagrams is lost, as far as the number that were sent and lost carries one."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.bench.network.loads import LEAST_CHANCE, LoadPoint
from apps.bench.rules import pace
from apps.bench.rules.base import Point
from apps.bench.rules.told import known_or_none
from apps.bench.statistics.distributions import chi_square_tail, student_t_quantile

# The datagram of tools that were not told another size (B), and the quantile of 95 %.
USUAL_DATAGRAM, QUANTILE = 1448, 1.96
# A share whose interval begins below this part of it is not known: fewer than eight lost, or all in one run.
KNOWN = 0.5
# Runs lose unevenly if chance of one share gives so much scatter more rarely than this, and it is more than the share
# (stdev / mean) by which a loss changes a little from run to run.
RARE, SCATTER = 0.001, 0.1

# What was lost of a run (in datagrams), and what was sent.
Run = tuple[float, float]


@dataclass(frozen=True)
class Counted:
    """The share (0 to 1) that was lost of so many datagrams, and its 95 % interval.

    `is_even` says that runs differ no more than chance of one share lets them: in bursts they differ more.
    """

    share: float
    low: float
    high: float
    lost: float
    sent: float
    is_even: bool = True

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

    The interval is Wilson's; where runs lose more unevenly than chance does, of as many fewer datagrams, and where
    they surely do, by how far they lie apart (Student).
    """
    rates = {float(f"{load.offered:.3g}") for load in loads}
    runs: list[Run] = []
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
    if len(runs) < 2:
        return Counted(share, *_wilson(share, sent, QUANTILE), lost, sent)
    # How much more than chance runs differ: bursts, or a cause that came and went.
    chi, free = math.fsum((own - share * of) ** 2 / (of * share * (1 - share)) for own, of in runs), len(runs) - 1
    if chi_square_tail(chi, free) >= RARE:
        return Counted(share, *_wilson(share, sent / max(1.0, chi / free), QUANTILE), lost, sent)
    # The runs, and not their datagrams, are what was drawn: each weighs by what it sent.
    scatter = math.sqrt(math.fsum((own / of / share - 1) ** 2 for own, of in runs) / free)
    count = sent**2 / math.fsum(of * of for _own, of in runs)
    ends = _wilson(share, (1 - share) / share * count / scatter**2, student_t_quantile(0.975, free))
    return Counted(share, *ends, lost, sent, is_even=scatter <= SCATTER)


def _wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Return the interval of a share of n (Wilson, 1927)."""
    square = quantile**2 / n
    middle = share + square / 2
    width = quantile * math.sqrt(share * (1 - share) / n + square / (4 * n))
    return (middle - width) / (1 + square), (middle + width) / (1 + square)
