"""What a file system was measured to give, by the number of clients and tasks, in one way of using it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from apps.bench.rules import shapes
from apps.bench.rules.base import BELOW, FILE_SYSTEM, Evidence, Point, Trend
from apps.bench.rules.layers.questions import Route, route_of
from apps.bench.rules.readings import read_once
from apps.bench.rules.shapes import CLIENTS, RECORD, TASKS, THREADS, described, nodes_of
from apps.bench.rules.workloads.amounts import Amount, PointRates, amounts_of, changed_since
from apps.bench.rules.workloads.belief import Belief
from apps.bench.rules.workloads.described import metric_of
from apps.bench.rules.workloads.settings import chosen, settings_of
from apps.bench.sweep.likeness import AS_IN

_NO_ROUTE = Route()


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
    def amounts(self) -> list[Amount]:
        """Return what was measured with any number of tasks and any records."""
        return [amount for records in self.cells.values() for amount in records.values()]

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
        metric = metric_of(next(iter(cells.values()))[0].point, pattern)
        for (count, record), amount in amounts_of(cells, metric, _tasks_of).items():
            groups[key].cells.setdefault(count, {})[record] = amount
    _doubt_what_changed(groups.values())
    _tell_apart(groups.values())
    for supply in groups.values():
        supply.trend = _printed_trend(evidence, supply, pattern)
    return list(groups.values())


@read_once
def supplies_of(evidence: Evidence, pattern: str) -> tuple[Supply, ...]:
    """Return the supplies that nothing refutes, the doubtful among them; all who ask have the same, to read only."""
    return tuple(supplies(evidence, pattern))


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


def _tasks_of(cell: _Cell) -> int:
    (clients, tasks), _record = cell
    return clients * tasks


def _doubt_what_changed(all_supplies: Iterable[Supply]) -> None:
    """Doubt what was measured before a campaign that found another rate of the same file system."""
    since: dict[str, float] = {}
    listed = list(all_supplies)
    for supply in listed:
        for amount in supply.amounts:
            if amount.has_changed and amount.at is not None:
                since[supply.file_system] = max(amount.at, since.get(supply.file_system, amount.at))
    newest = {amount.campaign for supply in listed for amount in supply.amounts if amount.has_changed}
    for supply in listed:
        latest = since.get(supply.file_system)
        for records in supply.cells.values():
            for record, amount in records.items():
                is_elder = latest is not None and amount.at is not None and amount.at < latest
                if is_elder and amount.campaign not in newest:
                    records[record] = replace(amount, doubts=(*amount.doubts, changed_since(amount)))


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
