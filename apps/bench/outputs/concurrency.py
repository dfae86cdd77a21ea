"""Commands that were to run at one time: how far apart they started, and how long all of them really ran."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Output

# Of the time in which any of them ran, all must have run for this share (the issue's own limit).
LEAST_OVERLAP = 0.95
# A start this late (s) is said, for the clocks or the nodes are not what the campaign needs.
MOST_SKEW_S = 0.05


@dataclass(frozen=True)
class Overlap:
    """When all of several commands ran: from `start` to `end` (server time, s), `skew_s` between their starts.

    `share` is that time over the time in which at least one of them ran, 0 to 1.
    """

    start: float
    end: float
    skew_s: float
    share: float

    @property
    def duration_s(self) -> float:
        """Return for how long (s) all of them ran."""
        return max(0.0, self.end - self.start)


def overlap_of(outputs: Sequence[Output]) -> Overlap | None:
    """Return the overlap of commands that all started and ended, None if one of them did not or there are none."""
    starts = [output.started_at for output in outputs if output.started_at is not None]
    ends = [output.ended_at for output in outputs if output.ended_at is not None]
    if not outputs or len(starts) < len(outputs) or len(ends) < len(outputs):
        return None
    whole = max(ends) - min(starts)
    common = max(0.0, min(ends) - max(starts))
    return Overlap(max(starts), min(ends), max(starts) - min(starts), common / whole if whole > 0 else 1.0)


def flags_of(overlap: Overlap | None, metrics: tuple[str, ...] = ()) -> tuple[Flag, ...]:
    """Return what there is to say of commands that should have run at one time; it bears on `metrics`, () for all."""
    flags = []
    if overlap and overlap.share < LEAST_OVERLAP:
        text = _("All ran together for %(percent)s %% of the time only; at least %(least)s %% are needed.")
        values = {"percent": f"{100 * overlap.share:.0f}", "least": f"{100 * LEAST_OVERLAP:.0f}"}
        flags.append(Flag("low-overlap", "invalid", Message(text, values), metrics))
    if overlap and overlap.skew_s > MOST_SKEW_S:
        text = _("They started %(skew)s ms apart.")
        flags.append(Flag("late-start", "warning", Message(text, {"skew": f"{1000 * overlap.skew_s:.0f}"}), metrics))
    return tuple(flags)
