"""Splits of stretches of a series, and how likely they are by chance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from apps.bench.statistics.distributions import least_student_t_tail, student_t_tail

# A level needs so many values: one or two outliers make none.
LEAST_LEVEL = 4
# What a split counts for among all that are tried: chance makes short levels at the ends more often than two halves.
LEAST_WEIGHT, MOST_WEIGHT = 0.5, 2.5
# Beyond a limit by this factor rounding has no part in it.
SURELY = 1 + 1e-9


@dataclass(frozen=True)
class Sums:
    """Sums of a series' first values and of their squares, both from the series' mean: any stretch's at once."""

    plain: tuple[float, ...]
    squares: tuple[float, ...]

    def best_split(self, start: int, end: int) -> int | None:
        """Return where the sums of squares of both sides are least, which is where t is largest."""
        n = end - start
        if n < 2 * LEAST_LEVEL:
            return None
        before = self.plain[start]
        whole = self.plain[end] - before
        best, best_count, count, rest = -1.0, None, LEAST_LEVEL, n - LEAST_LEVEL
        for until in self.plain[start + LEAST_LEVEL : end - LEAST_LEVEL + 1]:
            left = until - before
            gain = (left / count - (whole - left) / rest) ** 2 * count * rest
            if gain > best:
                best, best_count = gain, count
            count += 1
            rest -= 1
        return None if best_count is None else start + best_count

    def chance(self, start: int, place: int, end: int, tries: int, most: float = 1.0) -> float:
        """Return the chance of a split, as `chance` does, to the precision of the sums; 1 if it is above `most`."""
        n, m = place - start, end - place
        left, right = self.plain[place] - self.plain[start], self.plain[end] - self.plain[place]
        squares = self.squares[end] - self.squares[start] - left * left / n - right * right / m
        return chance_of(abs(left / n - right / m), max(squares, 0.0), n, m, tries, most)


def sums_of(values: Sequence[float]) -> Sums:
    """Return the sums of a series."""
    mean = math.fsum(values) / len(values) if values else 0.0
    return Sums(
        tuple(accumulate((value - mean for value in values), initial=0.0)),
        tuple(accumulate(((value - mean) ** 2 for value in values), initial=0.0)),
    )


def chance(before: Sequence[float], after: Sequence[float], tries: int) -> float:
    """Return how likely t (Student, equal variances) is by chance, at most, if it is the largest of many tries."""
    n, m = len(before), len(after)
    means = math.fsum(before) / n, math.fsum(after) / m
    squares = math.fsum((value - means[0]) ** 2 for value in before)
    squares += math.fsum((value - means[1]) ** 2 for value in after)
    return chance_of(abs(means[1] - means[0]), squares, n, m, tries)


def uneven_chance(before: Sequence[float], after: Sequence[float], tries: int) -> float:
    """Return the same where both sides may scatter differently (Welch, 1947; degrees of freedom of Satterthwaite).

    A few values that scatter far beside many that do not are no level of their own.
    """
    means, variances = [], []
    for values in (before, after):
        mean = math.fsum(values) / len(values)
        means.append(mean)
        squares = math.fsum((value - mean) ** 2 for value in values)
        variances.append(squares / (len(values) - 1) / len(values))
    variance, distance = math.fsum(variances), abs(means[1] - means[0])
    if not variance:
        return 0.0 if distance else 1.0
    parts = zip(variances, (before, after), strict=True)
    degrees = 1 / math.fsum((part / variance) ** 2 / (len(values) - 1) for part, values in parts)
    tail = student_t_tail(distance / math.sqrt(variance), degrees)
    return min(1.0, 2 * tries * _weight(len(before), len(after)) * tail)


def chance_of(distance: float, squares: float, n: int, m: int, tries: int, most: float = 1.0) -> float:
    """Return the same from the distance of the means and the sum of squares within both; 1 where it is above `most`.

    Most splits are, and show it by a bound that takes a tenth of the time.
    """
    spread = math.sqrt(squares / (n + m - 2) * (1 / n + 1 / m))
    t = distance / spread if spread else (math.inf if distance else 0.0)
    if not math.isfinite(t):
        return 0.0
    times = 2 * tries * _weight(n, m)
    if times * least_student_t_tail(t, n + m - 2) > SURELY * most:
        return 1.0
    p = min(1.0, times * student_t_tail(t, n + m - 2))
    return p if p <= most else 1.0


def _weight(n: int, m: int) -> float:
    return min(max((n + m) / (4 * min(n, m)), LEAST_WEIGHT), MOST_WEIGHT)
