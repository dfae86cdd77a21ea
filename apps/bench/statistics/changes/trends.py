"""A series that rises or falls steadily."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class SeriesTrend:
    """A series that rises or falls steadily: the line through it at its first and at its last value."""

    before: float
    after: float

    @property
    def ratio(self) -> float:
        """Return the end over the beginning."""
        return self.after / self.before if self.before else math.inf
