"""Which of the many measurements between two sites are looked at: of each way to measure the newest."""

import math
from dataclasses import dataclass

from django.db.models import Avg

from apps.bench.toolkit import Metric
from apps.results.models import Sample

# Of each pair so many ways to measure are looked at, those used last, and as many of the others, those that reached
# most; of each way the newest experiments, of which the very last may have no valid figure yet.
MOST_WAYS = 5
OF_EACH_WAY = 2


@dataclass(frozen=True)
class End:
    """A lane between two sites with its cast of nodes; measurements of the same `way` differ in nothing but time.

    Of its figures those are meant whose data went from the second role to the first if it `is_back`, else the others.
    """

    lane: int
    experiment: int
    cast: str
    way: str
    is_back: bool = False


def chosen(ends: dict[tuple[int, int], list[End]], metric: Metric) -> dict[tuple[int, int], list[End]]:
    """Return the lanes of each pair that are looked at.

    However often a bad setting was measured since, it is one way to measure, and takes no other's place.
    """
    ways = {pair: _by_way(lanes) for pair, lanes in ends.items()}
    older = {pair: list(by_way)[MOST_WAYS:] for pair, by_way in ways.items()}
    reached = _reached({pk for pair, names in older.items() for name in names for pk in ways[pair][name]}, metric)
    looked_at = {}
    for pair, lanes in ends.items():
        best = {name: _best(ways[pair][name], reached) for name in older[pair]}
        rest = sorted(best, key=lambda name: best[name], reverse=True)
        names = [*list(ways[pair])[:MOST_WAYS], *rest[:MOST_WAYS]]
        experiment_ids = {pk for name in names for pk in ways[pair][name]}
        looked_at[pair] = [lane for lane in lanes if lane.experiment in experiment_ids]
    return looked_at


def _by_way(lanes: list[End]) -> dict[str, list[int]]:
    """Return {way: its newest experiments}, the way used last first."""
    ways: dict[str, list[int]] = {}
    for lane in lanes:
        of_way = ways.setdefault(lane.way, [])
        if lane.experiment not in of_way and len(of_way) < OF_EACH_WAY:
            of_way.append(lane.experiment)
    return ways


def _reached(experiments: set[int], metric: Metric) -> dict[int, float]:
    """Return {experiment: the best mean of its points}, greater where better."""
    if not experiments or metric.higher_is_better is None:
        return {}
    rows = Sample.objects.filter(experiment__in=experiments, metric=metric.name, counts=True)
    reached: dict[int, float] = {}
    for experiment, _point, mean in rows.values_list("experiment", "trial__point").annotate(mean=Avg("value")):
        value = mean if metric.higher_is_better else -mean
        reached[experiment] = max(value, reached.get(experiment, -math.inf))
    return reached


def _best(experiments: list[int], reached: dict[int, float]) -> float:
    return max((reached[pk] for pk in experiments if pk in reached), default=-math.inf)
