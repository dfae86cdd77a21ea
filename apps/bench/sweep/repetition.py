"""How often to repeat a point: until the mean is known well enough, or a cap is reached."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench import statistics

DEFAULT_PRECISION = 0.03
# Two values give an interval, but one that rests on a single degree of freedom: it is never trusted.
LEAST = 3


@dataclass(frozen=True)
class Repetition:
    """Repeat until the 95 % interval's half-width is within `precision` of the mean, `most` times at the most."""

    precision: float
    most: int


@dataclass(frozen=True)
class PointVerdict:
    """What the values of a point ask for: `missing` further repetitions; 0 if it `converged` or the cap is reached.

    `half_width` is the 95 % interval's half-width over the mean; None where there is none.
    """

    missing: int
    converged: bool
    half_width: float | None


def judge_point(values: Sequence[float], attempted: int, rule: Repetition) -> PointVerdict:
    """Return how many more repetitions a point needs, given its values and how often it was tried.

    Failed tries give no value but count against the cap. The number is n = (t s / (e mean))², the sample size for a
    half-width of e (Jain, The Art of Computer Systems Performance Analysis, 1991, section 13.9), approached by
    doubling at the most, for the spread of a few values is itself uncertain. Equal values have converged.
    """
    remainder = max(0, rule.most - attempted)
    share = half_width(values)
    if len(values) < LEAST:
        return PointVerdict(min(LEAST - len(values), remainder), False, share)
    if share is not None and share <= rule.precision:
        return PointVerdict(0, True, share)
    if share is None:
        # A mean of zero: no share of it can be reached, so all that is allowed is done.
        return PointVerdict(min(len(values), remainder), False, share)
    needed = math.ceil(min(len(values) * (share / rule.precision) ** 2, 2.0 * len(values)))
    return PointVerdict(min(max(1, needed - len(values)), remainder), False, share)


def half_width(values: Sequence[float]) -> float | None:
    """Return the half-width of the 95 % interval over the mean, 0 for equal values; None if it has no meaning."""
    if len(values) < 2:
        return None
    summary = statistics.summarise(values)
    return summary.precision if summary.stdev else 0.0
