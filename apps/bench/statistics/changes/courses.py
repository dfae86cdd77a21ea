"""What a series shows in the order of time: changes of level, a trend, or steps that may be neither."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.bench.statistics.changes import rivals
from apps.bench.statistics.changes.levels import (
    ALPHA,
    LEAST_CHANGE,
    LEAST_LEVEL,
    TREND,
    UNEVEN_ALPHA,
    WAVES,
    Change,
    levels_of,
)
from apps.bench.statistics.changes.noise import correlation, whitened, without_outliers
from apps.bench.statistics.changes.rivals import Line, ModelFit
from apps.bench.statistics.changes.sums import chance, uneven_chance
from apps.bench.statistics.changes.trends import SeriesTrend

# By so much of Schwarz's criterion levels must tell a series better than one level with waves: the more values there
# are, the more evidence a real change brings. Of twenty values a step of three deviations has it in 97 of 100.
WAVY, WAVY_PER_VALUE, MOST_WAVY, FEW = 1.0, 0.12, 7.0, 20
# A line may tell it better by so much at most: of twenty values a step of three deviations is hardly told from one,
# and what tells a change nearly as well is named beside it.
LINE = 3.5
# A line is a trend, and a line with a step is that, from here on: very strong evidence (Kass, Raftery, 1995).
LEAST_EVIDENCE = 10.0
# Of fewer values a step along a line is not told from either alone.
LEAST_STEPPED = 30
# What tells a series worse than levels by no more than this is named beside them.
NEAR = 4.0
# From this correlation on neighbours are too much alike.
ALIKE = 0.3


@dataclass(frozen=True)
class Course:
    """Either changes or a trend, or neither; `is_unclear` where steps are seen that may be waves or a trend as well.

    `correlation` (0 to 0.99) is that of neighbours about the levels that are told, else about one level.
    """

    changes: tuple[Change, ...] = ()
    trend: SeriesTrend | None = None
    correlation: float = 0.0
    is_unclear: bool = False

    @property
    def is_alike(self) -> bool:
        """Return whether what is unclear is so because neighbours are too much alike."""
        return self.is_unclear and self.correlation >= ALIKE


def find_changes(values: Sequence[float]) -> tuple[Change, ...]:
    """Return the changes of level of a series in the order of time, as `course_of` tells them."""
    return course_of(values).changes


def find_trend(values: Sequence[float]) -> SeriesTrend | None:
    """Return the trend of a series whose changes are steps of one line; None if it has none, or levels tell more."""
    return course_of(values).trend


def course_of(values: Sequence[float]) -> Course:
    """Return what a series shows.

    Levels are looked for in the series without lone outliers and, where neighbours are alike beyond chance (what a
    machine does today it does tomorrow), with each value freed of what it has of the one before. What is found is
    told only if it tells the series better than what has no change: one level about which each value has something of
    the one before, and a straight line. All of them are allowed that correlation; Schwarz's criterion decides.
    """
    cleaned = without_outliers(values)
    first = levels_of(values, cleaned)
    if not first:
        return Course()
    rho = correlation(cleaned, [0, *(change.place for change in first), len(values)])
    changes = levels_of(values, whitened(cleaned, rho)) if rho else first
    waves = rivals.of_levels(cleaned, [])
    line = rivals.line_of(cleaned)
    straight, levels = (
        rivals.of_line(cleaned, line),
        rivals.of_levels(cleaned, [change.place for change in changes or first]),
    )
    if stepped := _stepped(cleaned, (waves, straight, levels), len(values)):
        return stepped
    last = len(values) - 1
    if straight.criterion + LEAST_EVIDENCE <= levels.criterion and straight.criterion < waves.criterion:
        trend = SeriesTrend(line.at(0, is_stepped=False), line.at(last, is_stepped=False))
        return Course(trend=trend, correlation=straight.correlation)
    if not changes or not _is_better(levels, waves, straight, len(values)):
        return Course(correlation=waves.correlation, is_unclear=True)
    rival = _rival(levels, waves, straight)
    judged = [replace(change, correlation=levels.correlation, rival=rival) for change in changes]
    return Course(tuple(judged), correlation=levels.correlation)


def _is_better(levels: ModelFit, waves: ModelFit, straight: ModelFit, n: int) -> bool:
    """Return whether levels tell a series of n values better than what has no change."""
    return (
        waves.criterion - levels.criterion > min(WAVY + WAVY_PER_VALUE * max(n - FEW, 0), MOST_WAVY)
        and straight.criterion - levels.criterion > -LINE
    )


def _rival(levels: ModelFit, waves: ModelFit, straight: ModelFit) -> str:
    """Return which of both would tell the series nearly as well, the better one; "" for neither."""
    name, criterion = min((TREND, straight.criterion), (WAVES, waves.criterion), key=lambda pair: pair[1])
    return name if criterion - levels.criterion <= NEAR else ""


def _stepped(values: Sequence[float], others: Sequence[ModelFit], n: int) -> Course | None:
    """Return the one change of a series that goes along a line besides; None unless all else tells it far worse."""
    line = rivals.stepped_of(values) if n >= LEAST_STEPPED else None
    if line is None or line.place is None:
        return None
    fit = rivals.of_line(values, line)
    if any(fit.criterion + LEAST_EVIDENCE > other.criterion for other in others):
        return None
    change = _change_of(line, values, n)
    if change is None:
        return None
    return Course((replace(change, correlation=fit.correlation),), correlation=fit.correlation)


def _change_of(line: Line, values: Sequence[float], n: int) -> Change | None:
    """Return the step of a line as a change: from where the line came to where it goes on."""
    place = line.place or 0
    if min(place, n - place) < LEAST_LEVEL:
        return None
    before, after = line.at(place - 1, is_stepped=False), line.at(place, is_stepped=True)
    level = [value - line.slope * at for at, value in enumerate(values)]
    p = chance(level[:place], level[place:], n)
    if uneven_chance(level[:place], level[place:], n) > UNEVEN_ALPHA:
        return None
    if p > ALPHA or abs(after - before) < LEAST_CHANGE * abs(before):
        return None
    return Change(place, before, after, after / before if before else math.inf, p)
