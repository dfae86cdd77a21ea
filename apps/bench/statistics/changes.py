"""Changes of level in a series of repeated measurements."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.statistics.differences import compare_two
from apps.bench.statistics.distributions import student_t_tail
from apps.bench.statistics.summary import quantile

# A level needs so many values: one or two outliers make none.
LEAST_LEVEL = 4
# The chance of a change where there is none, in a whole series.
ALPHA = 0.002
# Of the ranks alone, so that what a few far values feign is no change.
RANK_ALPHA = 0.05
# Smaller changes are real at times but of no use.
LEAST_CHANGE = 0.02


@dataclass(frozen=True)
class Change:
    """The level changed before the value at `place`: medians of the levels, second / first, and how sure it is."""

    place: int
    before: float
    after: float
    ratio: float
    p: float


def find_changes(values: Sequence[float]) -> tuple[Change, ...]:
    """Return the changes of level of a series in the order of time.

    Binary segmentation (Scott, Knott, 1974): the split of the largest t counts if t is beyond what the largest of all
    splits reaches by chance (Bonferroni) and the ranks agree (Mann, Whitney); then each side is split in turn, and at
    last every change is tested again between its neighbours.
    """
    places = sorted(_split(values, 0, len(values)))
    while True:
        edges = [0, *places, len(values)]
        tested = [
            _change(values[edges[i - 1] : edges[i]], values[edges[i] : edges[i + 1]], edges[i], len(values))
            for i in range(1, len(edges) - 1)
        ]
        lost = [place for place, change in zip(places, tested, strict=True) if change is None]
        if not lost:
            return tuple(change for change in tested if change)
        places.remove(lost[0])


def _split(values: Sequence[float], start: int, end: int) -> list[int]:
    """Return the places of changes within values[start:end]."""
    segment = values[start:end]
    place = _best_split(segment)
    if place is None or _change(segment[:place], segment[place:], start + place, len(values)) is None:
        return []
    return [*_split(values, start, start + place), start + place, *_split(values, start + place, end)]


def _best_split(segment: Sequence[float]) -> int | None:
    """Return where the sums of squares of both sides are least, which is where t is largest."""
    n = len(segment)
    if n < 2 * LEAST_LEVEL:
        return None
    whole = math.fsum(segment)
    left, best, found = math.fsum(segment[: LEAST_LEVEL - 1]), -1.0, None
    for place in range(LEAST_LEVEL, n - LEAST_LEVEL + 1):
        left += segment[place - 1]
        gain = (left / place - (whole - left) / (n - place)) ** 2 * place * (n - place)
        if gain > best:
            best, found = gain, place
    return found


def _change(before: Sequence[float], after: Sequence[float], place: int, tries: int) -> Change | None:
    n, m = len(before), len(after)
    if min(n, m) < LEAST_LEVEL:
        return None
    means = math.fsum(before) / n, math.fsum(after) / m
    squares = math.fsum((value - means[0]) ** 2 for value in before)
    squares += math.fsum((value - means[1]) ** 2 for value in after)
    spread = math.sqrt(squares / (n + m - 2) * (1 / n + 1 / m))
    distance = abs(means[1] - means[0])
    t = distance / spread if spread else (math.inf if distance else 0.0)
    p = min(1.0, 2 * tries * student_t_tail(t, n + m - 2)) if math.isfinite(t) else 0.0
    levels = quantile(sorted(before), 0.5), quantile(sorted(after), 0.5)
    is_large = abs(levels[1] - levels[0]) >= LEAST_CHANGE * abs(levels[0])
    if p > ALPHA or not is_large or compare_two(before, after).p > RANK_ALPHA:
        return None
    return Change(place, levels[0], levels[1], levels[1] / levels[0] if levels[0] else math.inf, p)
