"""How figures scatter, of all the places of one table together: each alone has too few of them to show it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum

from apps.bench.statistics.leaning import skewness_of
from apps.bench.statistics.modes import Modes, find_modes

# A place with fewer figures shows no lean.
LEAST_FIGURES = 3
# So far from what chance gives (in standard errors, 1 % of even scatters) figures lean to one side.
LEAST_LEAN = 2.58
# Modes of figures this near to each other (ratio) are one within what is printed of them, and count for little.
LEAST_APART = 1.05
# A mode of which fewer figures were met (a share of all) is that of a few outliers.
LEAST_SHARE = 0.15


class Evenness(Enum):
    """How figures scatter about what they measure."""

    EVEN = "even"
    # About two values, of which a place with few figures may have met only one.
    MODES = "modes"
    # To one side: a few far below, or above, the many.
    LEANING = "leaning"


def evenness_of(groups: Iterable[Sequence[float]]) -> Evenness:
    """Return how the figures of several places scatter, those of each place being repetitions of one setting.

    Two modes show in what each figure is of the largest of its place, which is about one where the place met one mode
    only, and about the modes' ratio where it met both. A lean shows in the skewness of the places, which is none on
    average where the scatter is even, with a variance of 6 (n - 2) / ((n + 1)(n + 3)) if it is normal (Fisher, 1930).
    """
    repeated = [group for group in groups if len(group) >= 2 and min(group) < max(group)]
    if modes_of(repeated) is not None:
        return Evenness.MODES
    lean, variance = 0.0, 0.0
    for group in repeated:
        n = len(group)
        if n >= LEAST_FIGURES:
            lean += skewness_of(group)
            variance += 6 * (n - 2) / ((n + 1) * (n + 3))
    return Evenness.LEANING if abs(lean) > LEAST_LEAN * math.sqrt(variance) else Evenness.EVEN


def modes_of(groups: Iterable[Sequence[float]]) -> Modes | None:
    """Return the two modes that places show together, as shares of the largest of each; None where they are one."""
    above = [group for group in groups if len(group) >= 2 and 0 < min(group) < max(group)]
    return find_modes(shares_of_largest(above), least_ratio=LEAST_APART)


def far_modes_of(groups: Sequence[Sequence[float]]) -> Modes | None:
    """Return the two modes that places show together, far apart and each met often; None where a mean may stand.

    They are shares of the largest of each place; `lower` and `upper` count the figures of all places, in their order.
    """
    repeated = [group for group in groups if len(group) >= 2 and min(group) > 0]
    modes = find_modes(shares_of_largest(repeated))
    if modes is None or modes.lower_mean <= 0:
        return None
    bound = math.sqrt(modes.lower_mean * modes.upper_mean)
    shares = [value / max(group) for group in repeated for value in group]
    lower = tuple(place for place, share in enumerate(shares) if share < bound)
    upper = tuple(place for place, share in enumerate(shares) if share >= bound)
    is_often = min(len(lower), len(upper)) >= LEAST_SHARE * len(shares)
    return replace(modes, lower=lower, upper=upper) if is_often else None


def shares_of_largest(groups: Iterable[Sequence[float]]) -> list[float]:
    """Return what each figure is of the largest of its place, if that is above zero; of pairs only the smaller one's.

    Of two figures the larger one tells nothing: its share is 1 by the reckoning, beside which all others would be a
    mode of their own.
    """
    return [
        value / max(group)
        for group in groups
        if max(group) > 0
        for value in (group if len(group) > 2 else [min(group)])
    ]
