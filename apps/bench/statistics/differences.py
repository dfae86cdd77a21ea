"""Whether two sets of values differ, by how much, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.bench.statistics.distributions import chi_square_tail
from apps.bench.statistics.intervals import Method, percent_of
from apps.bench.statistics.ranks import p_of_u, ranks_of
from apps.bench.statistics.shifts import grade_of, shift_of
from apps.bench.text import Message, _

# Beyond this the exponential is no float any more.
_MOST_LOG = 709.0
_WORDS = {
    Method.WELCH: _("%(percent)s %% by Welch's t"),
    Method.RANKS: _("%(percent)s %% by ranks: there are two modes"),
    Method.EQUAL: _("%(percent)s %%: all figures of a set are equal"),
}


@dataclass(frozen=True)
class Difference:
    """The second set against the first.

    `p` is two-sided, of the test whose interval this is: below 1 - `confidence` only where that tells them apart.
    `least_p` is the least that such sets can have, however far apart they are. `superiority` is the chance that a
    value of the second is above one of the first, ties counting half (Vargha, Delaney, 2000): 0.5 for equals. `shift`
    is the Hodges-Lehmann estimate of second - first with its interval, `ratio` the same of second / first, found of
    the logarithms, None unless all values are above zero. `confidence` (0 to 1) is what both intervals have, and
    `method` how they were found. A single value on a side gives none.
    """

    p: float
    superiority: float
    shift: float
    shift_low: float | None
    shift_high: float | None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    confidence: float | None = None
    method: Method | None = None
    least_p: float = 1.0

    @property
    def message(self) -> Message | None:
        """Return which interval it is, in words, None where there is none."""
        if self.method is None or self.confidence is None:
            return None
        return Message(_WORDS[self.method], {"percent": percent_of(self.confidence)})

    @property
    def tells_apart(self) -> bool:
        """Return whether the interval leaves out that the sets are equal."""
        low, high, equal = (
            (self.ratio_low, self.ratio_high, 1.0) if self.ratio else (self.shift_low, self.shift_high, 0.0)
        )
        return low is not None and high is not None and not low <= equal <= high

    @property
    def effect(self) -> str:
        """Return the size of the effect by the limits of Vargha and Delaney: none, small, medium or large."""
        distance = abs(self.superiority - 0.5)
        return (
            "large" if distance >= 0.21 else "medium" if distance >= 0.14 else "small" if distance >= 0.06 else "none"
        )


def compare_two(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Return how two sets of one or more values differ, each in the order of measurement.

    The p is Welch's of the logarithms where all values are above zero, as the interval is; that of the ranks (Mann,
    Whitney, 1947) where that is theirs, or there is none.
    """
    n, m = len(first), len(second)
    p, u = _p_and_u(first, second)
    grade = grade_of(first, second)
    method, confidence = (grade.method, grade.confidence) if grade else (None, None)
    shift = tested = shift_of(first, second, method)
    ratio: tuple[float | None, float | None, float | None] = (None, None, None)
    if min(*first, *second) > 0:
        tested = shift_of([math.log(value) for value in first], [math.log(value) for value in second], method)
        ratio = (_exp(tested.middle), _exp(tested.low), _exp(tested.high))
    difference = Difference(p, u / (n * m), shift.middle, shift.low, shift.high, *ratio, confidence, method)
    if grade is None:
        return difference
    own = max(tested.welch.p if tested.welch else p, grade.least_p)
    if not difference.tells_apart:
        # Ranks widen the interval of few figures, and with it what may be chance.
        own = max(own, 1 - grade.confidence)
    return replace(difference, p=own, least_p=grade.least_p)


def p_of_two(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the p of the ranks of two sets (Mann, Whitney, 1947), whatever their distribution."""
    return _p_and_u(first, second)[0]


def _p_and_u(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    n, m = len(first), len(second)
    ranks, ties = ranks_of([*first, *second])
    u = math.fsum(ranks[n:]) - m * (m + 1) / 2
    return p_of_u(u, n, m, ties), u


def _exp(log: float | None) -> float | None:
    """Return e to the power of a number, the largest float where there is none so large."""
    return None if log is None else math.exp(min(log, _MOST_LOG))


def compare_many(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return (p, effect) of the hypothesis that two or more groups are of one distribution (Kruskal, Wallis, 1952).

    The effect is epsilon squared, H (n + 1) / (n² - 1), 0 to 1 (Tomczak, Tomczak, 2014). ValueError for one group.
    """
    groups_with_values = [group for group in groups if group]
    if len(groups_with_values) < 2:
        raise ValueError("a comparison needs two groups with values")
    values = [value for group in groups_with_values for value in group]
    n = len(values)
    ranks, ties = ranks_of(values)
    if ties == 1:
        return 1.0, 0.0
    sums, place = [], 0
    for group in groups_with_values:
        sums.append(math.fsum(ranks[place : place + len(group)]) ** 2 / len(group))
        place += len(group)
    h = (12 / (n * (n + 1)) * math.fsum(sums) - 3 * (n + 1)) / (1 - ties)
    return chi_square_tail(h, len(groups_with_values) - 1), max(0.0, h / (n - 1))


def adjust_holm(ps: Sequence[float]) -> list[float]:
    """Return p-values of several tests such that any one is wrong no more often than it says (Holm, 1979)."""
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    adjusted, highest_p = [0.0] * len(ps), 0.0
    for rank, place in enumerate(order):
        highest_p = max(highest_p, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest_p
    return adjusted
