"""What neighbours in a series have in common: what a machine does today it does tomorrow."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

# No series is taken for correlated beyond this: nothing could be said of it at all.
MOST_CORRELATED = 0.8


def correlation(levels: Iterable[Sequence[float]], *, lost: float, doubt: float = 0.0) -> float:
    """Return the correlation of neighbours (0 to 0.8) within levels, each in the order of time.

    A fitted level takes from the correlation of the rest: `lost` is added back for each, over the number of all
    values. Only what is beyond `doubt` standard errors counts.
    """
    products, squares, n, fitted = 0.0, 0.0, 0, 0
    for values in levels:
        mean = math.fsum(values) / len(values)
        rest = [value - mean for value in values]
        products += math.fsum(a * b for a, b in pairwise(rest))
        squares += math.fsum(value * value for value in rest)
        n += len(values)
        fitted += 1
    if not squares:
        return 0.0
    coefficient = products / squares + fitted * lost / n - doubt / math.sqrt(n)
    return min(max(coefficient, 0.0), MOST_CORRELATED)
