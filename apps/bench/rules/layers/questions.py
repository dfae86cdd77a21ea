"""Whose rate is in question: a file system in one direction, as one group of clients over one path sees it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from apps.bench import statistics
from apps.bench.rules import pace
from apps.bench.rules.base import (
    AT_LEAST,
    BELOW,
    FILE_SYSTEM,
    MODE,
    SAMPLE,
    Evidence,
    FileSystemFacts,
    PathFacts,
    Point,
)
from apps.bench.rules.layers.days import When, when_of
from apps.bench.rules.layers.swings import Swing, swing_of
from apps.bench.rules.readings import read_once
from apps.bench.rules.shapes import CLIENTS, TASKS, THREADS, described, nodes_of
from apps.bench.rules.tcp.scatter import Scatter, read_scatter
from apps.bench.statistics.bounds import Within

METRICS = WRITE, READ = ("write", "read")
# Two printed levels are two modes if they differ by this factor, as measured ones must (apps.bench.statistics).
APART = 1.5
# A point alone, without file systems.
UNDESCRIBED = Evidence(())
# The flag of what a machine did unevenly.
NOT_STEADY = "not-steady"


# Two levels of equal figures are two: they are told apart by what they are, not by what they hold.
@dataclass(frozen=True, eq=False)
class Level(Within):
    """A rate (B/s) that a file system gave, with how many clients and processes on each.

    `surely` (B/s) is what it really has at least, where it may be the highest of several by chance; 0 where nobody
    asked. `swing` are the two levels that its figures show, None where they are of one.
    """

    value: float
    n: int
    trials: tuple[int, ...]
    point: Point
    clients: tuple[str, ...] = ()
    tasks: int = 1
    statistic: str = SAMPLE
    interval: tuple[float, float] | None = None
    metric: str = ""
    surely: float = 0.0
    swing: Swing | None = None

    @property
    def when(self) -> When:
        """Return when it was measured."""
        return when_of((self.point,))


@dataclass(frozen=True)
class Question:
    """A file system, a metric, the clients that measured it over one way, and the points.

    `bottleneck` is the narrowest link of that way, `way` all its links but the clients' own; `is_alone` if no other
    way has the same bottleneck.
    """

    facts: FileSystemFacts
    metric: str
    clients: frozenset[str]
    points: tuple[Point, ...]
    bottleneck: str = ""
    way: tuple[str, ...] = ()
    is_alone: bool = True

    @property
    def subject(self) -> str:
        """Return what tells the question from others of its campaign."""
        place = self.bottleneck if self.is_alone else ""
        place = place or ", ".join(sorted(self.clients)[:3])
        return f"{self.facts.name} {self.metric}" + (f" ({place})" if place else "")

    def levels(self) -> list[Level]:
        """Return what each point gave, the highest first; bounds from above and single modes are left out."""
        levels = [
            level_of(point, self.metric, point.values(self.metric), point.statistic)
            for point in self.points
            if point.statistic not in (MODE, BELOW)
        ]
        # The more settings were tried, the higher the best of them by chance.
        scatter = read_scatter(level.point.values(self.metric) for level in levels)
        sure_levels = [replace(level, surely=_surely(level, scatter, len(levels))) for level in levels]
        return sorted(sure_levels, key=lambda level: -level.value)

    def modes(self) -> tuple[Level, Level] | None:
        """Return the lower and the upper of two modes, printed or found in the repetitions of a point, or None."""
        mode_points = [point for point in self.points if point.statistic == MODE]
        levels = sorted(
            (level_of(point, self.metric, point.values(self.metric), MODE) for point in mode_points),
            key=lambda level: level.value,
        )
        if len(levels) > 1 and levels[-1].value >= APART * levels[0].value:
            return levels[0], levels[-1]
        for point in self.points:
            values = point.values(self.metric)
            # A machine that was busy with something else at times has two levels of its own.
            is_steady = point.statistic == SAMPLE and NOT_STEADY not in point.warnings
            modes = statistics.find_modes(values) if is_steady else None
            if modes:
                lower, upper = ([values[place] for place in places] for places in (modes.lower, modes.upper))
                return level_of(point, self.metric, lower, MODE), level_of(point, self.metric, upper, MODE)
        return None


def questions(evidence: Evidence) -> list[Question]:
    """Return the questions that the evidence lets one ask, by file system and metric."""
    all_questions: list[Question] = []
    for facts in evidence.file_systems.values():
        for metric in METRICS:
            points = [p for p in of_layer(evidence, FILE_SYSTEM, metric) if p.file_system == facts.name]
            groups = _groups(evidence, facts, points)
            names = [route.bottleneck for route, _group in groups]
            for route, group in groups:
                clients = frozenset(node for point in group for node in nodes_of(point))
                is_alone = names.count(route.bottleneck) < 2
                all_questions.append(Question(facts, metric, clients, tuple(group), *route, is_alone))
    return all_questions


@read_once
def of_layer(evidence: Evidence, layer: str, metric: str) -> tuple[Point, ...]:
    """Return the points of a layer that read or wrote in order, with a rate above zero."""
    return tuple(
        pace.undisturbed(point, metric)
        for point in evidence.points
        if point.layer == layer
        and point.parameters.get("pattern", metric) == metric
        and point.values(metric)
        and min(point.values(metric)) > 0
    )


def level_of(point: Point, metric: str, values: list[float], statistic: str) -> Level:
    """Return the level of some values of a point: their mean with its 95 % interval."""
    summary = statistics.summarise(values, point.kind_of_mean(metric))
    parameters = described(point, UNDESCRIBED)
    clients = nodes_of(point)[: parameters.get(CLIENTS) or None]
    return Level(
        value=summary.mean,
        n=summary.n,
        trials=point.trials(metric),
        point=point,
        clients=clients,
        tasks=parameters.get(TASKS)
        or max(len(clients), parameters.get(CLIENTS) or 1) * (parameters.get(THREADS) or 1),
        statistic=statistic,
        interval=_interval(summary),
        metric=metric,
        swing=swing_of(values, summary.mean) if statistic == SAMPLE else None,
    )


def _surely(level: Level, scatter: Scatter, looked: int) -> float:
    """Return what a level of so many really has at least, by the scatter of all; what is printed is so."""
    if "published" in level.point.observed or level.statistic != SAMPLE:
        return level.value
    return level.value / math.exp(scatter.error(level.point.values(level.metric), one_sided=True, looked=looked))


def _interval(summary: statistics.Summary) -> tuple[float, float] | None:
    """Return the interval of a rate: no rate is below zero, however far a few repetitions lie apart."""
    if summary.ci_low is None or summary.ci_high is None:
        return None
    return max(summary.ci_low, 0.0), summary.ci_high


def is_floor(level: Level) -> bool:
    """Return whether a level is only said to be reached at least."""
    return level.statistic == AT_LEAST


def path_of(evidence: Evidence, clients: Iterable[str], servers: Iterable[str]) -> PathFacts | None:
    """Return the path from the first client that has one to a server; that of the evidence if none is told apart."""
    ends = list(servers)
    for client in sorted(clients):
        for server in ends:
            path = evidence.paths.get((client, server)) or evidence.paths.get((server, client))
            if path:
                return path
    return evidence.path if evidence.path.capacity_bps and not evidence.paths else None


class Route(NamedTuple):
    """The way from clients to the servers: its narrowest link, and all its links but the client's own ("" and ())."""

    bottleneck: str = ""
    way: tuple[str, ...] = ()


def route_of(evidence: Evidence, clients: Iterable[str], servers: Sequence[str]) -> Route:
    """Return the way of the first client that has a path to a server.

    What a client on the LAN gets says nothing of one over the WAN, though both end at the same narrow server.
    """
    for client in sorted(clients):
        for server in servers:
            path, back = evidence.paths.get((client, server)), evidence.paths.get((server, client))
            if path or back:
                links = [link.name for link in (path.links if path else tuple(reversed(back.links if back else ())))]
                return Route((path or back or PathFacts()).bottleneck, tuple(links[1:]))
    path = evidence.path if evidence.path.capacity_bps and not evidence.paths else PathFacts()
    return Route(path.bottleneck)


def _groups(evidence: Evidence, facts: FileSystemFacts, points: list[Point]) -> list[tuple[Route, list[Point]]]:
    """Return the points that share a way, or (where no path is known) a client."""
    by_nodes: dict[tuple[str, ...], list[Point]] = {}
    for point in points:
        by_nodes.setdefault(nodes_of(point), []).append(point)
    groups: list[tuple[Route, set[str], list[Point]]] = []
    for own, joined in by_nodes.items():
        nodes = set(own)
        route = route_of(evidence, nodes, facts.servers)
        for group in [group for group in groups if _is_one((route, nodes), group)]:
            groups.remove(group)
            joined, nodes, route = [*group[2], *joined], nodes | group[1], route if route.bottleneck else group[0]
        groups.append((route, nodes, joined))
    return [(route, joined) for route, _nodes, joined in groups]


def _is_one(point: tuple[Route, set[str]], group: tuple[Route, set[str], list[Point]]) -> bool:
    if point[0].bottleneck and group[0].bottleneck:
        return point[0] == group[0]
    return not point[1] or not group[1] or bool(point[1] & group[1])
