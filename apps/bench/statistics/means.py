"""Which mean is right, and the means."""

import math
from collections.abc import Sequence
from enum import Enum

from apps.bench.text import Message, _


class Mean(Enum):
    """How values of equal weight are put together."""

    ARITHMETIC = "arithmetic"
    HARMONIC = "harmonic"


_WHY = {
    Mean.ARITHMETIC: _("The arithmetic mean: what was measured adds up (times, counts, rates over equal times)."),
    Mean.HARMONIC: _(
        "The harmonic mean: each rate was measured over an equal amount of work, so their times add up."
    ),
}
# Units of what is done in a time: amounts of data, operations, messages, files.
RATES = ("bit/s", "B/s", "1/s", "op/s", "Mop/s")


def right_mean(unit: str, *, equal_work: bool) -> tuple[Mean, Message]:
    """Return the mean that is right for figures of a unit, and why.

    Costs add up, so their arithmetic mean times their number is the whole cost. Rates of equal amounts of work do
    not: their harmonic mean is the whole work over the whole time. Rates over equal times do again (Hoefler, Belli,
    SC'15, rule 3).
    """
    kind = Mean.HARMONIC if unit in RATES and equal_work else Mean.ARITHMETIC
    return kind, Message(_WHY[kind])


def why_mean(kind: Mean) -> str:
    """Return why a mean is the right one (a msgid)."""
    return _WHY[kind]


def mean_of(values: Sequence[float], kind: Mean = Mean.ARITHMETIC) -> float:
    """Return the mean of one or more values; a harmonic mean with a zero is zero. ValueError for a negative rate."""
    if kind is Mean.ARITHMETIC:
        return math.fsum(values) / len(values)
    if min(values) < 0:
        raise ValueError("a rate is not negative")
    return len(values) / math.fsum(1 / value for value in values) if min(values) > 0 else 0.0
