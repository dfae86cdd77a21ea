"""What a file system was measured to give, by the number of clients and tasks, in one way of using it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.bench import statistics
from apps.bench.rules import shapes
from apps.bench.rules.base import AT_LEAST, BELOW, FILE_SYSTEM, MODE, Evidence, Point, Trend
from apps.bench.rules.layers.questions import Route, route_of
from apps.bench.rules.shapes import CLIENTS, RECORD, TASKS, THREADS, described, nodes_of
from apps.bench.rules.workloads.described import metric_of, rates_of
from apps.bench.statistics.bounds import Within

# Flags of figures that no application can count on.
CACHED = frozenset({"cached-read", "cached-write"})
# What tells ways of using a file system apart: a person chooses them.
SETTINGS = ("direct", "api", "collective", "file_per_process", "engine", "depth", "sync")


@dataclass(frozen=True)
class Amount(Within):
    """A rate (B/s) with what it may be, its trials and how often it was measured."""

    value: float
    low: float
    high: float
    trials: tuple[int, ...]
    n: int
    is_bimodal: bool = False


@dataclass
class Supply:
    """A file system used in one way: {(clients, tasks on each): {record size (None: unknown): amount}}.

    `trend` is a printed one over clients or tasks; `ends` are the clients that measured it.
    """

    file_system: str
    tool: str
    settings: Mapping[str, Any]
    cells: dict[tuple[int, int], dict[int | None, Amount]] = field(default_factory=dict)
    ends: tuple[str, ...] = ()
    file_size: int = 0
    trend: Trend | None = None
    route: str = ""

    @property
    def counts(self) -> list[int]:
        """Return the total numbers of tasks measured, in order."""
        return sorted({clients * tasks for clients, tasks in self.cells})


def supplies(evidence: Evidence, pattern: str) -> list[Supply]:
    """Return what each file system gives of a pattern, by way of using it and by path of its clients."""
    groups: dict[Any, Supply] = {}
    collected: dict[Any, dict[tuple[tuple[int, int], int | None], list[tuple[Point, Mapping[int, float]]]]] = {}
    for point in evidence.points:
        rates = rates_of(point, pattern)
        usable = point.layer == FILE_SYSTEM and point.file_system and not CACHED & point.warnings
        if not usable or not rates or min(rates.values()) <= 0 or point.statistic == BELOW:
            continue
        parameters = described(point, evidence)
        facts = evidence.file_systems.get(point.file_system)
        route = route_of(evidence, nodes_of(point), facts.servers) if facts else Route()
        settings = {name: parameters[name] for name in SETTINGS if parameters.get(name) not in (None, False)}
        key = (point.file_system, route, tuple(sorted((name, repr(value)) for name, value in settings.items())))
        supply = groups.setdefault(key, Supply(point.file_system, point.tool, settings, route=route.bottleneck))
        supply.ends = max(supply.ends, nodes_of(point), key=len)
        supply.file_size = max(supply.file_size, _size_of(parameters))
        cell = _count_of(point, parameters), parameters.get(RECORD)
        collected.setdefault(key, {}).setdefault(cell, []).append((point, rates))
    for key, cells in collected.items():
        for (count, record), points in cells.items():
            groups[key].cells.setdefault(count, {})[record] = amount_of(points, metric_of(points[0][0], pattern))
    for supply in groups.values():
        supply.trend = _printed_trend(evidence, supply, pattern)
    return list(groups.values())


def _count_of(point: Point, parameters: Mapping[str, Any]) -> tuple[int, int]:
    clients = parameters.get(CLIENTS) or len(nodes_of(point)) or 1
    if point.tool == "ior":
        ranks = int(parameters.get("ranks") or clients)
        # Of fewer ranks than nodes some nodes do nothing.
        clients = min(clients, ranks)
        return clients, max(ranks // clients, 1)
    return clients, parameters.get(THREADS) or 1


def _size_of(parameters: Mapping[str, Any]) -> int:
    """Return the size (B) of the file that a task moves."""
    if parameters.get("file_size"):
        return int(parameters["file_size"])
    return int(parameters.get("block_size") or 0) * int(parameters.get("segments") or 1)


def amount_of(points: Sequence[tuple[Point, Mapping[int, float]]], metric: str) -> Amount:
    """Return what points of one setting give together: the range of their modes, or the mean with its interval."""
    trials = tuple(sorted({trial for _point, rates in points for trial in rates}))
    values = [rate for _point, rates in points for rate in rates.values()]
    modes = statistics.find_modes(values)
    if modes or any(point.statistic == MODE for point, _rates in points):
        low, high = (modes.lower_mean, modes.upper_mean) if modes else (min(values), max(values))
        # What an application can count on is the lower one.
        return Amount(low, low, high, trials, len(values), is_bimodal=high > low)
    kinds = {point.kind_of_mean(metric) for point, _rates in points}
    summary = statistics.summarise(values, *(kinds if len(kinds) == 1 else ()))
    low, high = (0.95 * summary.mean, 1.05 * summary.mean)
    if summary.ci_low is not None and summary.ci_high is not None:
        low, high = max(summary.ci_low, 0.0), summary.ci_high
    if any(point.statistic == AT_LEAST for point, _rates in points):
        low = summary.minimum
    return Amount(summary.mean, low, high, trials, summary.n)


def _printed_trend(evidence: Evidence, supply: Supply, pattern: str) -> Trend | None:
    """Return a printed trend of the file system over clients or tasks."""
    for factor in (CLIENTS, THREADS, TASKS):
        for trend in evidence.trends:
            if (trend.file_system, trend.metric, trend.factor) == (supply.file_system, pattern, factor):
                return trend
    return None


def grows(supply: Supply) -> bool:
    """Return whether the rate is printed to grow with the number of clients or tasks."""
    return supply.trend is not None and supply.trend.shape == shapes.RISES
