"""Changes of level in a series of repeated measurements."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.bench.statistics.changes.sums import LEAST_LEVEL, Sums, chance, sums_of, uneven_chance
from apps.bench.statistics.differences import p_of_two
from apps.bench.statistics.quantiles import quantile

# The chance of a change where there is none, in a whole series.
ALPHA = 0.0015
# With the scatter of each side its own, which costs degrees of freedom: a change of scatter alone is none of level.
UNEVEN_ALPHA = 25 * ALPHA
# Of the ranks alone, so that what a few far values feign is no change.
RANK_ALPHA = 0.05
# Smaller changes are real at times but of no use.
LEAST_CHANGE = 0.02
# What else than changes may tell a series: a steady trend, or slow waves about one level.
TREND, WAVES = RIVALS = ("trend", "waves")
# From one length of stretches to the next, and from one stretch to the next as a share of its length.
STRETCH_RATIO = math.sqrt(2)
STRETCH_STEPS = 8


@dataclass(frozen=True)
class Change:
    """The level changed before the value at `place`: medians of the levels, second / first, and how sure it is.

    `correlation` (0 to 0.99) is that of neighbours about the levels. `rival` names what would tell the series nearly
    as well (one of `RIVALS`), "" where nothing would.
    """

    place: int
    before: float
    after: float
    ratio: float
    p: float
    correlation: float = 0.0
    rival: str = ""


@dataclass(frozen=True)
class _Series:
    """The values, and the series on which splits are tested, with its sums."""

    values: Sequence[float]
    steady: Sequence[float]
    sums: Sums


def levels_of(values: Sequence[float], steady: Sequence[float]) -> tuple[Change, ...]:
    """Return the changes of level of a series in the order of time, as splits of `steady` tell them.

    Binary segmentation (Scott, Knott, 1974): the split of the largest t counts if t is beyond what the largest of all
    splits reaches by chance (Bonferroni), it stays so with the scatter of each side its own (Welch), and the ranks
    agree (Mann, Whitney); then each side is split in turn. Splits
    are looked for in stretches of many lengths (seeded: Kovács, Bühlmann, Li, Munk, Biometrika, 2023), for a level
    that comes back after a while hides both its changes in the series as a whole. At last every change is placed and
    tested again between its neighbours. The levels are those of the values themselves.
    """
    return _find(_Series(values, steady, sums_of(steady)))


def _find(series: _Series) -> tuple[Change, ...]:
    end = len(series.values)
    places = _split(series, 0, end)
    while True:
        places = _placed(series.sums, places, end)
        edges = [0, *places, end]
        tested = [_change(series, *edges[i - 1 : i + 2]) for i in range(1, len(edges) - 1)]
        lost = [place for place, change in zip(places, tested, strict=True) if change is None]
        if not lost:
            return tuple(change for change in tested if change)
        places.remove(lost[0])


def _split(series: _Series, start: int, end: int) -> list[int]:
    """Return the places of changes between two places."""
    candidates: list[tuple[float, int, int, int, int]] = []
    for width, (low, high) in enumerate(_stretches(start, end)):
        place = series.sums.best_split(low, high)
        if place is not None:
            p = series.sums.chance(low, place, high, len(series.values), ALPHA)
            if p <= ALPHA:
                # Of equals the widest stretch, which comes first, knows the place best.
                candidates.append((p, width, low, place, high))
    for _p, _width, low, place, high in sorted(candidates):
        if _change(series, low, place, high):
            return [*_split(series, start, place), place, *_split(series, place, end)]
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


def _placed(sums: Sums, places: list[int], end: int) -> list[int]:
    """Return the places, each moved to the best split between its neighbours."""
    split_places = list(places)
    for i, place in enumerate(split_places):
        before, after = split_places[i - 1] if i else 0, split_places[i + 1] if i + 1 < len(split_places) else end
        split_places[i] = sums.best_split(before, after) or place
    return split_places


def _change(series: _Series, start: int, place: int, end: int) -> Change | None:
    if min(place - start, end - place) < LEAST_LEVEL:
        return None
    p = chance(series.steady[start:place], series.steady[place:end], len(series.values))
    before, after = (quantile(sorted(part), 0.5) for part in (series.values[start:place], series.values[place:end]))
    is_large = abs(after - before) >= LEAST_CHANGE * abs(before)
    if p > ALPHA or not is_large:
        return None
    if uneven_chance(series.steady[start:place], series.steady[place:end], len(series.values)) > UNEVEN_ALPHA:
        return None
    if p_of_two(series.steady[start:place], series.steady[place:end]) > RANK_ALPHA:
        return None
    return Change(place, before, after, after / before if before else math.inf, p)
