"""One setting at several levels: runs of another time, or another length, that surely had another rate.

A mean of levels that differ is what no transfer had. The longest runs are told, of these the newest.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.bench import statistics
from apps.bench.rules import pace
from apps.bench.rules.base import SAMPLE, Point
from apps.bench.rules.tcp.scatter import mean, read_scatter
from apps.bench.rules.told import known_or_none
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

DURATION = "duration"
# Levels differ if they do so for sure, and by this factor.
APART = 1.10
# For sure by this share, whatever repetitions scatter.
SURELY = 0.01
# The metrics of what came through from one end to the other, with their units.
RATES: Mapping[str, str] = {"goodput": "bit/s", "throughput": "B/s"}
# The parameters by which a setting is named, with their units; the first two also where nothing was asked.
SPOKEN: Mapping[str, str] = {
    "streams": "",
    "window": "B",
    "congestion": "",
    "mss": "B",
    "pace": "bit/s",
    "protocol": "",
    "test": "",
    "rate": "bit/s",
    "length": "B",
    "message_size": "B",
    "concurrency": "",
    "data_nodes": "",
    "block_size": "B",
    "files": "",
    "size": "B",
}
WHATEVER: Mapping[str, int] = {"streams": 1, "window": 0}

# Runs that belong together: of one experiment, and of one length.
Runs = tuple[int | None, float]


@dataclass(frozen=True)
class PresentLevel:
    """What one setting had in runs that belong together: its rate, their length (s), and their trials.

    The rate is in its metric's unit, `at` when the last of them ended (Unix time), None where nobody told.
    """

    rate: float
    duration: float
    trials: tuple[int, ...]
    at: float | None = None


@dataclass(frozen=True)
class LevelDifference:
    """A setting of a tool with the level of a metric that is told of it, and another that it surely had, too."""

    parameters: Mapping[str, Any]
    told: PresentLevel
    other: PresentLevel
    metric: str = "goodput"
    tool: str = ""

    @property
    def is_of_length(self) -> bool:
        """Return whether the runs were of different lengths, not just of another time."""
        return self.told.duration != self.other.duration

    @property
    def trials(self) -> tuple[int, ...]:
        """Return the trials of both levels."""
        return (*self.told.trials, *self.other.trials)

    @property
    def unit(self) -> str:
        """Return the unit of both rates."""
        return RATES[self.metric]

    @property
    def setting(self) -> str:
        """Return what was asked of the tool, as names and values: streams and window, and what else was set."""
        words = []
        for name, unit in SPOKEN.items():
            value = known_or_none(self.parameters, name)
            if value or (name in WHATEVER and name in self.parameters):
                number = value or WHATEVER.get(name, 0)
                words.append(f"{name} = {format_quantity(number, unit) if unit else number}")
        return ", ".join(words) or self.tool

    @property
    def times(self) -> float:
        """Return by how many times one level is above the other."""
        less, more = sorted((self.told.rate, self.other.rate))
        return more / less if less else math.inf


@dataclass(frozen=True)
class Levels:
    """The points that are told, of what was left out where and by how much it differs, and the trials left out."""

    points: tuple[Point, ...]
    differences: tuple[LevelDifference, ...] = field(default=())
    left_out: frozenset[int] = frozenset()

    @property
    def of_times(self) -> tuple[LevelDifference, ...]:
        """Return the differences between runs of one length: two results of one setting, the farthest first."""
        own = [item for item in self.differences if not item.is_of_length]
        return tuple(sorted(own, key=lambda item: -item.times))


def read_levels(points: Sequence[Point], metric: str = "goodput") -> Levels:
    """Return the points without those of experiments, or of lengths, in which a setting surely had another rate.

    All that was measured with such a one is left out: beside what is told it would be compared across the levels.
    Each point has values of the metric, a rate, not all of them zero.
    """
    newest: dict[int | None, float] = {}
    groups: dict[Runs, dict[str, list[Point]]] = {}
    for point in points:
        newest[point.experiment] = max(newest.get(point.experiment, 0.0), point.at or 0.0)
        if point.statistic == SAMPLE:
            groups.setdefault(_runs_of(point), {}).setdefault(_setting_of(point), []).append(point)
    ordered = sorted(groups, key=lambda runs: (runs[1], newest[runs[0]], runs[0] or 0), reverse=True)
    scatter = read_scatter(pace.undisturbed(point, metric).values(metric) for point in points)
    told: dict[str, list[Point]] = {}
    differences: list[LevelDifference] = []
    left_out: set[Runs] = set()
    for runs in ordered:
        own = groups[runs]
        shared = [name for name in own if name in told]
        pairs = [(name, _rates(told[name], metric), _rates(own[name], metric)) for name in shared]
        apart = [
            name
            for name, rates, others in pairs
            if max(mean(rates), mean(others)) >= APART * min(mean(rates), mean(others))
            and (
                scatter.is_less(rates, others, by=SURELY, looked=2 * len(pairs))
                or scatter.is_less(others, rates, by=SURELY, looked=2 * len(pairs))
            )
        ]
        if apart:
            left_out.add(runs)
            differences += [
                LevelDifference(
                    own[name][0].parameters,
                    _level(told[name], metric),
                    _level(own[name], metric),
                    metric,
                    own[name][0].tool,
                )
                for name in apart
            ]
            continue
        for name, items in own.items():
            told.setdefault(name, []).extend(items)
    points_left = [point for point in points if point.statistic != SAMPLE or _runs_of(point) not in left_out]
    trials = {
        trial for runs in left_out for own in groups[runs].values() for point in own for trial in point.trials(metric)
    }
    return Levels(tuple(points_left), tuple(differences), frozenset(trials))


def said_of_levels(item: LevelDifference) -> Message:
    """Return both levels of a setting, and which is told."""
    text = _(
        "With %(setting)s it was %(other)s in an earlier experiment and %(rate)s in the latest: what there is now is"
        " told by the latest, and no setting of one is compared with one of the other."
    )
    if item.is_of_length:
        text = _(
            "With %(setting)s it was %(other)s in runs of %(short)s and %(rate)s in those of %(long)s: what there is"
            " now is told by the longest, and no setting of one is compared with one of the other."
        )
    params = {
        "setting": item.setting,
        "other": format_quantity(item.other.rate, item.unit),
        "rate": format_quantity(item.told.rate, item.unit),
        "short": format_quantity(item.other.duration, "s"),
        "long": format_quantity(item.told.duration, "s"),
    }
    return Message(text, params)


def duration_of(point: Point) -> float:
    """Return how long the runs of a point were (s), 0 where nobody tells."""
    duration = known_or_none(point.parameters, DURATION)
    return float(duration) if isinstance(duration, int | float) else 0.0


def _runs_of(point: Point) -> Runs:
    return point.experiment, duration_of(point)


def _setting_of(point: Point) -> str:
    """Return what was set, but for the length of the runs, as a key."""
    parameters = sorted((name, repr(value)) for name, value in point.parameters.items() if name != DURATION)
    roles = sorted((role, tuple(names)) for role, names in point.roles.items())
    return repr((point.tool, point.is_back, roles, parameters))


def _rates(points: Sequence[Point], metric: str) -> list[float]:
    return [rate for point in points for rate in pace.undisturbed(point, metric).values(metric)]


def _level(points: Sequence[Point], metric: str) -> PresentLevel:
    trials = tuple(sorted(trial for point in points for trial in point.trials(metric)))
    times = [point.at for point in points if point.at is not None]
    rate = statistics.middle_of(_rates(points, metric), points[0].kind_of_mean(metric))
    return PresentLevel(rate, max(map(duration_of, points)), trials, max(times, default=None))
