"""What a file system was measured to give, by the number of clients and tasks, in one way of using it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from apps.bench import statistics
from apps.bench.rules import shapes
from apps.bench.rules.base import AT_LEAST, BELOW, FILE_SYSTEM, MODE, Evidence, Point, Trend
from apps.bench.rules.layers.questions import Route, route_of
from apps.bench.rules.shapes import CLIENTS, RECORD, TASKS, THREADS, described, nodes_of
from apps.bench.rules.workloads.belief import Belief, distinct
from apps.bench.rules.workloads.described import metric_of
from apps.bench.rules.workloads.settings import chosen, settings_of
from apps.bench.statistics.bounds import Within
from apps.bench.sweep.likeness import AS_IN
from apps.bench.text import Message, _

_SCATTERED = _("Its repetitions lie too far apart to tell an interval: the range is that of all of them.")


_NO_ROUTE = Route()


@dataclass(frozen=True)
class Amount(Within):
    """A rate (B/s) with what it may be, its trials, how often it was measured, and what makes it doubtful.

    Of a lone figure nobody knows what else it may be: `low` and `high` are the figure itself, and no interval.
    """

    value: float
    low: float
    high: float
    trials: tuple[int, ...]
    n: int
    is_bimodal: bool = False
    doubts: tuple[Message, ...] = ()


@dataclass
class Supply:
    """A file system used in one way: {(clients, tasks on each): {record size (None: unknown): amount}}.

    `settings` are what was chosen of its `way`, which is the tool and all settings that bear on its figures; its
    files are of one size (B, 0: unknown); `apart` {name: value} are the settings in which others of the same tool and
    file system differ from it. `trend` is a printed one over clients or tasks; `ends` are the clients that
    measured it, by the same path.
    """

    file_system: str
    tool: str
    settings: Mapping[str, Any]
    cells: dict[tuple[int, int], dict[int | None, Amount]] = field(default_factory=dict)
    ends: tuple[str, ...] = ()
    file_size: int = 0
    trend: Trend | None = None
    route: str = ""
    way: tuple[str, ...] = ()
    path: Route = _NO_ROUTE
    all_settings: Mapping[str, Any] = field(default_factory=dict)
    apart: Mapping[str, Any] = field(default_factory=dict)

    @property
    def counts(self) -> list[int]:
        """Return the total numbers of tasks measured, in order."""
        return sorted({clients * tasks for clients, tasks in self.cells})


# What points of one cell are collected as: (clients, tasks on each), record size.
_Cell = tuple[tuple[int, int], int | None]


def supplies(
    evidence: Evidence, pattern: str, belief: Belief | None = None, *, is_sure: bool = False
) -> list[Supply]:
    """Return what each file system gives of a pattern, by way of using it, size of files and path of its clients.

    What the evidence itself refutes is no supply; nor, if it `is_sure`, what is doubtful.
    """
    belief = belief or Belief(evidence)
    groups: dict[Any, Supply] = {}
    collected: dict[Any, dict[_Cell, list[PointRates]]] = {}
    for point in evidence.points:
        if point.layer != FILE_SYSTEM or not point.file_system or point.statistic == BELOW:
            continue
        rates = belief.rates(point, pattern)
        doubts = belief.doubts(point, pattern)
        if not rates or min(rates.values()) <= 0 or (is_sure and doubts):
            continue
        parameters = described(point, evidence)
        supply = _supply(point, evidence, parameters)
        key = (supply.file_system, supply.path, supply.way, supply.file_size)
        supply = groups.setdefault(key, supply)
        supply.ends = max(supply.ends, nodes_of(point), key=len)
        cell = _count_of(point, parameters), parameters.get(RECORD)
        collected.setdefault(key, {}).setdefault(cell, []).append(PointRates(point, rates, doubts))
    for key, cells in collected.items():
        for (count, record), figures in cells.items():
            metric = metric_of(figures[0].point, pattern)
            groups[key].cells.setdefault(count, {})[record] = amount_of(figures, metric)
    _tell_apart(groups.values())
    for supply in groups.values():
        supply.trend = _printed_trend(evidence, supply, pattern)
    return list(groups.values())


class PointRates(NamedTuple):
    """A point with its rates {trial: rate} of one pattern, and what makes them doubtful."""

    point: Point
    rates: Mapping[int, float]
    doubts: tuple[Message, ...] = ()


def _supply(point: Point, evidence: Evidence, parameters: Mapping[str, Any]) -> Supply:
    """Return the supply that a point belongs to, without amounts."""
    facts = evidence.file_systems.get(point.file_system)
    route = route_of(evidence, nodes_of(point), facts.servers) if facts else Route()
    settings = settings_of(point)
    return Supply(
        point.file_system,
        point.tool,
        chosen(point.tool, settings),
        file_size=_size_of(parameters),
        route=route.bottleneck,
        way=way_of(point),
        path=route,
        all_settings=settings,
    )


def _tell_apart(all_supplies: Iterable[Supply]) -> None:
    """Add to the settings of each supply those in which others of its file system differ from it, and note these."""
    by_name: dict[str, list[Supply]] = {}
    for supply in all_supplies:
        by_name.setdefault(supply.file_system, []).append(supply)
    for own in by_name.values():
        names = {name for supply in own for name in supply.settings}
        for supply in own:
            settings = {name: supply.all_settings.get(name) for name in sorted(names)}
            supply.settings = {name: value for name, value in settings.items() if value is not None}
            like = [other.all_settings for other in own if other.tool == supply.tool]
            supply.apart = {
                name: supply.all_settings.get(name)
                for name in dict.fromkeys(name for settings in like for name in settings)
                if name != AS_IN and len({repr(settings.get(name)) for settings in like}) > 1
            }


def way_of(point: Point) -> tuple[str, ...]:
    """Return the tool of a point and all settings that bear on its figures, as a key."""
    return point.tool, *(f"{name} = {value!r}" for name, value in sorted(settings_of(point).items()))


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


def amount_of(figures: Sequence[PointRates], metric: str) -> Amount:
    """Return what points of one setting give together: the range of their modes, or the mean with its interval."""
    trials = tuple(sorted({trial for item in figures for trial in item.rates}))
    values = [rate for item in figures for rate in item.rates.values()]
    doubts = distinct(doubt for item in figures for doubt in item.doubts)
    modes = statistics.find_modes(values)
    if modes or any(item.point.statistic == MODE for item in figures):
        low, high = (modes.lower_mean, modes.upper_mean) if modes else (min(values), max(values))
        # What an application can count on is the lower one.
        return Amount(low, low, high, trials, len(values), is_bimodal=high > low, doubts=doubts)
    kinds = {item.point.kind_of_mean(metric) for item in figures}
    summary = statistics.summarise(values, *(kinds if len(kinds) == 1 else ()))
    mean, interval = summary.mean, summary.interval
    # Of one figure, of equal ones, and of such as lie too far apart there is no interval.
    low, high = min(*values, mean), max(*values, mean)
    if interval and interval.confidence is not None and interval.low <= mean <= interval.high:
        low, high = max(interval.low, 0.0), interval.high
    elif low < high:
        doubts = (*doubts, Message(_SCATTERED))
    if any(item.point.statistic == AT_LEAST for item in figures):
        low = min(summary.minimum, mean)
    return Amount(mean, low, high, trials, summary.n, doubts=doubts)


def _printed_trend(evidence: Evidence, supply: Supply, pattern: str) -> Trend | None:
    """Return a printed trend of the file system over clients or tasks; of several the one that promises least."""
    for factor in (CLIENTS, THREADS, TASKS):
        trends = [
            trend
            for trend in evidence.trends
            if (trend.file_system, trend.metric, trend.factor) == (supply.file_system, pattern, factor)
        ]
        if trends:
            return min(trends, key=lambda trend: (trend.shape != shapes.FALLS, trend.shape == shapes.RISES))
    return None


def grows(supply: Supply) -> bool:
    """Return whether the rate is printed to grow with the number of clients or tasks."""
    return supply.trend is not None and supply.trend.shape == shapes.RISES


def falls(supply: Supply) -> bool:
    """Return whether the rate is printed to fall as clients or tasks are added."""
    return supply.trend is not None and supply.trend.shape == shapes.FALLS
