"""Changes of level in a series of repeated measurements."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

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
# From one length of stretches to the next, and from one stretch to the next as a share of its length.
STRETCH_RATIO = math.sqrt(2)
STRETCH_STEPS = 8


@dataclass(frozen=True)
class Change:
    """The level changed before the value at `place`: medians of the levels, second / first, and how sure it is."""

    place: int
    before: float
    after: float
    ratio: float
    p: float


@dataclass(frozen=True)
class _Sums:
    """Sums of a series' first values and of their squares, both from the series' mean: any stretch's at once."""

    plain: tuple[float, ...]
    squares: tuple[float, ...]

    def best_split(self, start: int, end: int) -> int | None:
        """Return where the sums of squares of both sides are least, which is where t is largest."""
        n = end - start
        if n < 2 * LEAST_LEVEL:
            return None
        plain, whole, before = self.plain, self.plain[end] - self.plain[start], self.plain[start]
        best, found = -1.0, None
        for count in range(LEAST_LEVEL, n - LEAST_LEVEL + 1):
            left = plain[start + count] - before
            gain = (left / count - (whole - left) / (n - count)) ** 2 * count * (n - count)
            if gain > best:
                best, found = gain, start + count
        return found

    def chance(self, start: int, place: int, end: int, tries: int) -> float:
        """Return the chance of a split, as `_chance` does, to the precision of the sums."""
        n, m = place - start, end - place
        left, right = self.plain[place] - self.plain[start], self.plain[end] - self.plain[place]
        squares = self.squares[end] - self.squares[start] - left * left / n - right * right / m
        return _chance_of(abs(left / n - right / m), max(squares, 0.0), n, m, tries)


def _sums(values: Sequence[float]) -> _Sums:
    mean = math.fsum(values) / len(values) if values else 0.0
    return _Sums(
        tuple(accumulate((value - mean for value in values), initial=0.0)),
        tuple(accumulate(((value - mean) ** 2 for value in values), initial=0.0)),
    )


def find_changes(values: Sequence[float]) -> tuple[Change, ...]:
    """Return the changes of level of a series in the order of time.

    Binary segmentation (Scott, Knott, 1974): the split of the largest t counts if t is beyond what the largest of all
    splits reaches by chance (Bonferroni) and the ranks agree (Mann, Whitney); then each side is split in turn. Splits
    are looked for in stretches of many lengths (seeded: Kovács, Bühlmann, Li, Munk, Biometrika, 2023), for a level
    that comes back after a while hides both its changes in the series as a whole. At last every change is placed and
    tested again between its neighbours.
    """
    sums = _sums(values)
    places = _split(values, sums, 0, len(values))
    while True:
        places = _placed(sums, places, len(values))
        edges = [0, *places, len(values)]
        tested = [
            _change(values[edges[i - 1] : edges[i]], values[edges[i] : edges[i + 1]], edges[i], len(values))
            for i in range(1, len(edges) - 1)
        ]
        lost = [place for place, change in zip(places, tested, strict=True) if change is None]
        if not lost:
            return tuple(change for change in tested if change)
        places.remove(lost[0])


def _split(values: Sequence[float], sums: _Sums, start: int, end: int) -> list[int]:
    """Return the places of changes within values[start:end]."""
    candidates: list[tuple[float, int, int, int, int]] = []
    for width, (low, high) in enumerate(_stretches(start, end)):
        place = sums.best_split(low, high)
        if place is not None:
            p = sums.chance(low, place, high, len(values))
            if p <= ALPHA:
                # Of equals the widest stretch, which comes first, knows the place best.
                candidates.append((p, width, low, place, high))
    for _p, _width, low, place, high in sorted(candidates):
        if _change(values[low:place], values[place:high], place, len(values)):
            return [*_split(values, sums, start, place), place, *_split(values, sums, place, end)]
    return []


def _stretches(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield overlapping stretches of a segment, from the whole down to the shortest that can hold a change."""
    length = float(end - start)
    while length >= 2 * LEAST_LEVEL:
        size = round(length)
        step = max(1, size // STRETCH_STEPS)
        for low in range(start, end - size, step):
            yield low, low + size
        yield end - size, end
        length /= STRETCH_RATIO


def _placed(sums: _Sums, places: list[int], end: int) -> list[int]:
    """Return the places, each moved to the best split between its neighbours."""
    moved = list(places)
    for i, place in enumerate(moved):
        before, after = moved[i - 1] if i else 0, moved[i + 1] if i + 1 < len(moved) else end
        moved[i] = sums.best_split(before, after) or place
    return moved


def _change(before: Sequence[float], after: Sequence[float], place: int, tries: int) -> Change | None:
    n, m = len(before), len(after)
    if min(n, m) < LEAST_LEVEL:
        return None
    p = _chance(before, after, tries)
    levels = quantile(sorted(before), 0.5), quantile(sorted(after), 0.5)
    is_large = abs(levels[1] - levels[0]) >= LEAST_CHANGE * abs(levels[0])
    if p > ALPHA or not is_large or compare_two(before, after).p > RANK_ALPHA:
        return None
    return Change(place, levels[0], levels[1], levels[1] / levels[0] if levels[0] else math.inf, p)


def _chance(before: Sequence[float], after: Sequence[float], tries: int) -> float:
    """Return how likely t (Student, equal variances) is by chance, at most, if it is the largest of many tries."""
    n, m = len(before), len(after)
    means = math.fsum(before) / n, math.fsum(after) / m
    squares = math.fsum((value - means[0]) ** 2 for value in before)
    squares += math.fsum((value - means[1]) ** 2 for value in after)
    return _chance_of(abs(means[1] - means[0]), squares, n, m, tries)


def _chance_of(distance: float, squares: float, n: int, m: int, tries: int) -> float:
    spread = math.sqrt(squares / (n + m - 2) * (1 / n + 1 / m))
    t = distance / spread if spread else (math.inf if distance else 0.0)
    return min(1.0, 2 * tries * student_t_tail(t, n + m - 2)) if math.isfinite(t) else 0.0
