"""The interval of a mean by Student's t, with what the figures' own lean to one side does to it."""

import math
from collections.abc import Sequence

from apps.bench.statistics.distributions import student_t_quantile

# Of so few figures the lean hides: their t is taken so many times as large. Of exponential scatter 93 of 100 hold
# then, of normal 95 to 97 (tests/bench/statistics/test_coverage.py).
FEW = {3: 1.4, 4: 1.25, 5: 1.14, 6: 1.1, 7: 1.05}
# The cubic grows slowly on one side: no end lies farther out than so many times what it is without a lean.
FARTHEST = 2.0


def mean_ends(values: Sequence[float], mean: float, confidence: float) -> tuple[float, float]:
    """Return between what the mean of two or more differing figures lies.

    Student's t of figures that lean to one side leans to the other: where few large ones were met by chance the mean
    and the spread are both too small. Hall (J. R. Stat. Soc. B 54, 1992) takes the lean out by the cubic
    g(t) = t + a t² + a² t³ / 3 + γ / (6 √n), a = γ / (3 √n) with the skewness γ of the figures, which grows all the
    way and so can be turned over; without a lean it is t.
    """
    n = len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    error = math.sqrt(squares / (n - 1) / n)
    quantile = FEW.get(n, 1.0) * student_t_quantile((1 + confidence) / 2, n - 1)
    skewness = skewness_of(values)
    turned = [_turned_over(x, skewness / math.sqrt(n)) for x in (quantile, -quantile)]
    low, high = (mean - max(-FARTHEST * quantile, min(t, FARTHEST * quantile)) * error for t in turned)
    return low, high


def skewness_of(values: Sequence[float]) -> float:
    """Return the skewness of figures by their moments, 0 where all are equal."""
    mean = math.fsum(values) / len(values)
    farthest = max(abs(value - mean) for value in values)
    if not farthest:
        return 0.0
    # As shares of the farthest neither squares nor cubes can vanish.
    shares = [(value - mean) / farthest for value in values]
    squares = math.fsum(share**2 for share in shares) / len(values)
    return math.fsum(share**3 for share in shares) / len(values) / squares**1.5


def _turned_over(x: float, lean: float) -> float:
    """Return the t of which the cubic is x."""
    a, shifted = lean / 3, x - lean / 6
    # Of hardly any lean the cube root would lose more digits than the lean is worth.
    return (math.cbrt(1 + 3 * a * shifted) - 1) / a if abs(a) > 1e-6 else shifted
