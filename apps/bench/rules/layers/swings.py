"""Whether what was measured is one level: credit is used up, caches fill, later runs give less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench import statistics

# Rates of one thing at two times are two levels from this factor on.
APART = 1.25


@dataclass(frozen=True)
class Swing:
    """Two levels (B/s) of one setting, of which no run has the `mean`; `fall` and `rise` are their shares of it."""

    lower: float
    upper: float
    mean: float

    @property
    def fall(self) -> float:
        """Return the lower level as a share of the mean."""
        return min(1.0, self.lower / self.mean)

    @property
    def rise(self) -> float:
        """Return the upper level as a share of the mean."""
        return max(1.0, self.upper / self.mean)


def swing_of(values: Sequence[float], mean: float) -> Swing | None:
    """Return the two levels of some rates with this mean, None where they are of one."""
    levels = statistics.find_levels(values)
    if levels is None or levels.lower_mean <= 0:
        return None
    return Swing(levels.lower_mean, levels.upper_mean, mean)


def swing_among(groups: Sequence[Sequence[float]], best: float) -> Swing | None:
    """Return the levels that a rate has by what all settings of its layer together show, None where that is one.

    The lower one is as large a share of it as runs that fell had of the largest with their own setting: what settings
    differ by is no level of any of them.
    """
    repeated = [[rate / max(group) for rate in group] for group in groups if len(group) > 1 and min(group) > 0]
    splits = [(group, levels) for group in repeated if (levels := statistics.find_levels(group))]
    fallen = [group[place] for group, levels in splits for place in levels.lower]
    if modes := statistics.far_modes_of(repeated):
        shares = [share for group in repeated for share in group]
        fallen = [shares[place] for place in modes.lower]
    if not fallen:
        return None
    lower = best * sum(fallen) / len(fallen)
    return Swing(lower, best, best) if best >= APART * lower else None
