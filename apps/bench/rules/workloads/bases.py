"""How a rate of a workload is known: measured just so, computed of what was, between it, or beyond it."""

from dataclasses import dataclass

from apps.bench.rules.workloads.amounts import Amount
from apps.bench.statistics.bounds import Within
from apps.bench.text import Message

# The surer come first.
MEASURED, COMPUTED, BETWEEN, BEYOND = BASES = ("measured", "computed", "between", "beyond")
# A plateau that goes on beyond what was measured may still fall or grow by this.
LOOSE = 0.25
# A setting is on the plateau from this share of the best rate on.
PLATEAU = 0.95


@dataclass(frozen=True)
class KnownAmount:
    """An amount, how it is known, and what makes it doubtful."""

    amount: Amount
    basis: str = MEASURED
    doubts: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Predicted(Within):
    """A rate (B/s, or files a second) and its range, how it is known, why, and what makes it doubtful.

    Of a lone figure (`n` = 1) the range is none: nobody knows how far it scatters. More than the `ceiling` (B/s) the
    network does not carry, as far as it is known (None).
    """

    value: float
    low: float
    high: float
    basis: str
    trials: tuple[int, ...]
    n: int
    why: tuple[Message, ...] = ()
    doubts: tuple[Message, ...] = ()
    ceiling: float | None = None


def weakest(*bases: str) -> str:
    """Return the least sure of several bases: what is computed of two is known no better than either."""
    return max(bases, key=BASES.index)
