"""How far the figures of a curve's places scatter, and how sure differences between places are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from apps.bench.statistics.distributions import student_t_tail

# Below so many degrees of freedom the scatter itself is not known.
LEAST_FREE = 2
# A place of fewer figures has no scatter of its own: how far it may be off nobody knows, whatever others scatter.
LEAST_REPEATED = 2


@dataclass(frozen=True)
class PlaceScatter:
    """The figures of each place: their logarithms if all are above zero, for then differences are shares.

    Else `scale` is the largest mean, of which margins are shares; None of logarithms.
    """

    groups: tuple[tuple[float, ...], ...]
    scale: float | None = None

    @cached_property
    def means(self) -> tuple[float, ...]:
        """Return the arithmetic mean at each place, in the values' unit."""
        return tuple(math.fsum(group) / len(group) for group in self.groups)

    @cached_property
    def _squares(self) -> tuple[float, ...]:
        pairs = zip(self.groups, self.means, strict=True)
        return tuple(math.fsum((value - mean) ** 2 for value in group) for group, mean in pairs)

    def free(self, places: Sequence[int]) -> int:
        """Return the degrees of freedom that repetition gives at some places."""
        return sum(len(self.groups[place]) - 1 for place in places)

    def chance(self, low: int, high: int, margin: float = 0.0) -> float | None:
        """Return the one-sided p of `high` not lying above `low` by more than a margin (a share); None if untested.

        The scatter is that of all places or of each of the two (Welch), whichever leaves more doubt: neither a noisy
        place among quiet ones nor figures that agree by luck may feign a difference.
        """
        return self._tail(low, high, self.means[high] - self.means[low] - self.margin(margin))

    def alike(self, one: int, other: int, margin: float) -> float | None:
        """Return the p of two places differing by more than a margin (a share) all the same; None if untested."""
        return self._tail(one, other, self.margin(margin) - abs(self.means[one] - self.means[other]))

    def margin(self, share: float) -> float:
        """Return a share as a distance of these means."""
        return math.log1p(share) if self.scale is None else share * self.scale

    def is_repeated(self, *places: int) -> bool:
        """Return whether each of some places was measured more than once: of a lone figure no test tells."""
        return all(len(self.groups[place]) >= LEAST_REPEATED for place in places)

    def _tail(self, one: int, other: int, distance: float) -> float | None:
        return self._chance(distance, {one: 1.0, other: -1.0})

    def _chance(self, distance: float, weights: Mapping[int, float]) -> float | None:
        """Return the one-sided p of a distance between weighted means of places; None if untested."""
        if not self.is_repeated(*weights):
            return None
        shares = {place: weight**2 / len(self.groups[place]) for place, weight in weights.items()}
        errors = [self._own_error(shares)] if self.free(list(weights)) >= LEAST_FREE else []
        if whole := self._error(range(len(self.groups))):
            variance, free = whole
            errors.append((variance * math.fsum(shares.values()), float(free)))
        return max((tail(distance, math.sqrt(variance), free) for variance, free in errors), default=None)

    def _own_error(self, shares: Mapping[int, float]) -> tuple[float, float]:
        """Return the variance of a weighted mean by each place's own scatter and its degrees of freedom.

        They are Welch's and Satterthwaite's (Biometrics Bulletin 2, 1946, 110-114).
        """
        free_of = {place: len(self.groups[place]) - 1 for place in shares}
        parts = {place: share * self._squares[place] / free_of[place] for place, share in shares.items()}
        variance = math.fsum(parts.values())
        squares = math.fsum(part**2 / free_of[place] for place, part in parts.items())
        return variance, variance**2 / squares if squares else float(sum(free_of.values()))

    def _error(self, places: Sequence[int]) -> tuple[float, int] | None:
        """Return the variance of single figures at some places, and its degrees of freedom."""
        free = self.free(places)
        return (math.fsum(self._squares[place] for place in places) / free, free) if free >= LEAST_FREE else None

    def level(self, places: Sequence[int]) -> float:
        """Return the mean of some places' means."""
        return math.fsum(self.means[place] for place in places) / len(places)

    def within(self, places: Sequence[int], share: float) -> float | None:
        """Return the p of some place lying further than a share from the mean of them all; None if untested.

        Their own scatter counts: a line that is full is steadier than what leads up to it.
        """
        error_of_mean = self._error(places)
        if error_of_mean is None or not self.is_repeated(*places):
            return None
        variance, free = error_of_mean
        level, count = self.level(places), len(places)
        weights = [1 / len(self.groups[place]) for place in places]
        worst = 0.0
        for place, weight in zip(places, weights, strict=True):
            # The place is a part of the mean that it is held against.
            error = math.sqrt(variance * (weight * (1 - 2 / count) + math.fsum(weights) / count**2))
            worst = max(worst, tail(self.margin(share) - abs(self.means[place] - level), error, free))
        return worst

    def below(self, place: int, places: Sequence[int]) -> float | None:
        """Return the one-sided p of a place not lying below the mean of some others; None if untested."""
        weight = 1 / len(places)
        return self._chance(self.level(places) - self.means[place], {place: 1.0, **dict.fromkeys(places, -weight)})


def scatter_of(groups: Sequence[Sequence[float]]) -> PlaceScatter:
    """Return the figures on the scale on which their scatter is most alike."""
    if all(value > 0 for group in groups for value in group):
        return PlaceScatter(tuple(tuple(math.log(value) for value in group) for group in groups))
    largest = max(abs(math.fsum(group) / len(group)) for group in groups)
    # A curve of zeros has no shares; any scale will do.
    return PlaceScatter(tuple(tuple(group) for group in groups), largest or 1.0)


def tail(distance: float, error: float, free: float) -> float:
    """Return the one-sided p of a distance with its standard error; equal figures leave no doubt."""
    if not error:
        return 0.0 if distance > 0 else 1.0
    return student_t_tail(distance / error, free)
