"""How long it takes from the healing of a fault until measuring goes on."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass
class Period:
    """From when to when a fault was at work (s since 1970)."""

    begun: float = 0.0
    healed: float = 0.0


def recovery_of(fault: Period, others: Iterable[Period], ends: Iterable[float]) -> float:
    """Return the time (s) from a fault's healing to the next of the `ends`, 0 if there was nothing left to do.

    While another fault is at work nobody can recover: it counts from the first moment without one.
    """
    start = fault.healed
    for other in sorted(others, key=lambda period: period.begun):
        if other.begun <= start < other.healed:
            start = other.healed
    return min((end for end in ends if end > start), default=start) - start
