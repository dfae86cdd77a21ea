"""Whether repetitions are of one kind: two modes among them, or a rate that goes up or down from one to the next."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench import statistics
from apps.bench.rules.base import SAMPLE, Evidence, Point
from apps.bench.rules.tcp.sweeps import tcp_points
from apps.bench.statistics.distributions import student_t_tail

# A mode of which fewer figures were met (a share of all) is that of a few outliers.
LEAST_SHARE = 0.15
# Fewer repetitions of a setting show no course; a course counts from this change (a share) over all of them, where
# chance gives one so rarely (one-sided).
LEAST_REPEATED, LEAST_CHANGE, LEAST_FREE, CHANCE = 4, 0.10, 6, 0.0005
# Ratios of one setting to another in the two modes that differ by no more (a factor) are one.
ALIKE = 1.25


@dataclass(frozen=True)
class TwoModes:
    """Two modes of all repeated settings: the lower as a share of the upper, and how many of all figures lie in it.

    `lower` and `upper` are the medians (bit/s) of one setting, the one that met both most often; `cut` lies between
    them, as a share of the largest figure of a setting.
    """

    lower: float
    upper: float
    count: int
    of: int
    cut: float
    trials: tuple[int, ...]
    share: float

    def split(self, rates: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return those of a setting's rates in the lower mode, and those in the upper; ([], rates) if it met one."""
        top = max(rates)
        low = [rate for rate in rates if rate <= self.cut * top]
        return low, [rate for rate in rates if rate > self.cut * top]


@dataclass(frozen=True)
class Drift:
    """A rate that changed by a share (below zero: fell) from the first repetition to the last, of so many."""

    change: float
    repetitions: int
    trials: tuple[int, ...]


def read_modes(evidence: Evidence) -> TwoModes | None:
    """Return the two modes of all that was measured again and again; None where each setting has one."""
    points = _repeated(evidence, 2)
    groups = [point.values("goodput") for point in points]
    modes = statistics.find_modes(statistics.shares_of_largest(groups))
    if modes is None:
        return None
    # Between the two modes, of what each figure is of the largest of its setting.
    cut = (modes.lower_mean * modes.upper_mean) ** 0.5
    low_count = sum(value <= cut * max(group) for group in groups for value in group)
    count = sum(map(len, groups))
    if min(low_count, count - low_count) < LEAST_SHARE * count:
        return None
    # A rate of one setting's mode beside that of another's would be two settings, not two modes.
    pairs = [
        ([v for v in group if v <= cut * max(group)], [v for v in group if v > cut * max(group)]) for group in groups
    ]
    both = max(pairs, key=lambda pair: (min(map(len, pair)), sum(pair[1])))
    lower, upper = (statistics.quantile(sorted(values), 0.5) for values in both)
    share = modes.lower_mean / modes.upper_mean
    return TwoModes(lower, upper, low_count, count, cut, _trials_of(points), share)


def times_in_each(modes: TwoModes, less: Sequence[float], more: Sequence[float]) -> tuple[float, float] | None:
    """Return how many times the rates of one setting are those of another in the lower and in the upper mode.

    None where one of them was not met in both modes, or the two ratios differ.
    """
    pairs = list(zip(modes.split(less), modes.split(more), strict=True))
    if not all(any(before) and after for before, after in pairs):
        return None
    lower, upper = (_mean(after) / _mean(before) for before, after in pairs)
    return (lower, upper) if 1 / ALIKE <= lower / upper <= ALIKE else None


def read_drift(evidence: Evidence) -> Drift | None:
    """Return how rates change from the first repetition to the last, over all settings; None if not for sure.

    By least squares of the logarithms over the place among the repetitions (0 to 1), with one slope for all settings.
    """
    # Where nothing arrived in a run there is no share by which the next one had more.
    points = [point for point in _repeated(evidence, LEAST_REPEATED) if min(point.values("goodput")) > 0]
    products = squares_x = squares_y = 0.0
    free = -1
    for point in points:
        ordered = [math.log(rate) for _trial, rate in sorted(point.metrics["goodput"].items())]
        centre, last = math.fsum(ordered) / len(ordered), len(ordered) - 1
        places = [place / last - 0.5 for place in range(len(ordered))]
        products += math.fsum(x * (y - centre) for x, y in zip(places, ordered, strict=True))
        squares_x += math.fsum(x * x for x in places)
        squares_y += math.fsum((y - centre) ** 2 for y in ordered)
        free += last
    if free < LEAST_FREE:
        return None
    slope = products / squares_x
    rest = max(0.0, squares_y - slope * products)
    error = math.sqrt(rest / free / squares_x)
    if abs(slope) < -math.log1p(-LEAST_CHANGE) or (error and student_t_tail(abs(slope) / error, free) > CHANCE):
        return None
    return Drift(math.expm1(slope), max(len(point.values("goodput")) for point in points), _trials_of(points))


def _repeated(evidence: Evidence, least: int) -> list[Point]:
    """Return the points of measured TCP with so many repetitions or more."""
    return [
        point for point in tcp_points(evidence) if point.statistic == SAMPLE and len(point.values("goodput")) >= least
    ]


def _trials_of(points: Sequence[Point]) -> tuple[int, ...]:
    return tuple(sorted(trial for point in points for trial in point.trials("goodput")))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
