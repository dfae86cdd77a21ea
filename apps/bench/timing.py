"""Commands that were to start at one instant: how they did."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Of several commands: how many started, how far apart (s), how long after the planned instant the last one did.

    `overlap` is the time in which all ran over the time in which at least one did, 0 to 1; None unless all started
    and ended.
    """

    started: int
    skew_s: float | None
    late_s: float | None
    overlap: float | None


def timing_of(*, planned: float, starts: Sequence[float], ends: Sequence[float], commands: int) -> Timing:
    """Return the timing of `commands` from the starts and ends of those that had them (server time, s)."""
    if not starts:
        return Timing(0, None, None, None)
    skew, late = max(starts) - min(starts), max(starts) - planned
    if len(starts) < commands or len(ends) < commands:
        return Timing(len(starts), skew, late, None)
    whole = max(ends) - min(starts)
    common = max(0.0, min(ends) - max(starts))
    return Timing(len(starts), skew, late, common / whole if whole > 0 else 1.0)
