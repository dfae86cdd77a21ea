"""When each layer was measured: in another campaign, or months apart, it may have given something else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from apps.bench.rules.base import Evidence, Point
from apps.bench.units.days import SECONDS, day_of

# What lies further apart (s) is of another time: links are widened, disks replaced, servers set up anew.
FAR_S = 30 * SECONDS


@dataclass(frozen=True)
class When:
    """When something was measured: the Unix times (s) of the first and the last, in which campaigns and experiments.

    Of what is printed nobody knows the experiments.
    """

    first: float | None = None
    last: float | None = None
    campaigns: frozenset[int] = frozenset()
    experiments: frozenset[int] = frozenset()

    @property
    def day(self) -> str:
        """Return its day, or the first and the last; "" where nobody knows."""
        if self.first is None or self.last is None:
            return ""
        return " – ".join(dict.fromkeys((day_of(self.first), day_of(self.last))))

    def is_other_than(self, other: When) -> bool:
        """Return whether it was measured in other campaigns; of what is not known it is not said."""
        return bool(self.campaigns and other.campaigns) and not self.campaigns <= other.campaigns

    def is_far_from(self, other: When) -> bool:
        """Return whether it was measured in other campaigns, and some of it months before or after."""
        if self.first is None or self.last is None or other.first is None or other.last is None:
            return False
        return self.is_other_than(other) and max(self.last - other.first, other.last - self.first) > FAR_S

    def is_apart_from(self, other: When) -> bool:
        """Return whether it was measured in other experiments, and so not in turn; of what is not known it is not."""
        return bool(self.experiments and other.experiments) and not self.experiments & other.experiments

    def is_around(self, other: When) -> bool:
        """Return whether some of it was measured before the other, and some after."""
        if self.first is None or self.last is None or other.first is None or other.last is None:
            return False
        return self.first < other.first and other.last < self.last

    def is_after(self, other: When) -> bool:
        """Return whether all of it was measured after all of the other."""
        return self.first is not None and other.last is not None and self.first > other.last


UNKNOWN = When()


def when_of(points: Iterable[Point]) -> When:
    """Return when points were measured."""
    own = list(points)
    times = [point.at for point in own if point.at is not None]
    campaigns = frozenset(point.campaign for point in own if point.campaign is not None)
    measured = [point for point in own if "published" not in point.observed]
    experiments = frozenset(point.experiment for point in measured if point.experiment is not None)
    return When(min(times, default=None), max(times, default=None), campaigns, experiments)


def all_of(parts: Iterable[When]) -> When:
    """Return when all of several things were measured."""
    own = list(parts)
    return When(
        min((when.first for when in own if when.first is not None), default=None),
        max((when.last for when in own if when.last is not None), default=None),
        frozenset().union(*(when.campaigns for when in own)),
        frozenset().union(*(when.experiments for when in own)),
    )


def is_far(point: Point, when: When) -> bool:
    """Return whether a point was measured in another campaign, months before or after."""
    return when_of((point,)).is_far_from(when)


def near_in(evidence: Evidence, when: When) -> Evidence:
    """Return the evidence without what was measured in other campaigns, months before or after."""
    points = tuple(point for point in evidence.points if not is_far(point, when))
    return evidence if len(points) == len(evidence.points) else replace(evidence, points=points)
