"""What a difference is corrected by: of how many curves it was looked for, and how all their repetitions scatter.

Of twelve circumstances in which nothing matters one differs by chance in half of all sweeps. So a difference is told
where it holds with all that were looked at (Holm, 1979): the clearest of k at 5 % / k, the next at 5 % / (k - 1). The
repetitions of all settings tell together how far rates scatter, which makes up for most of that.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from apps.bench import statistics
from apps.bench.rules.tcp.scatter import Scatter, read_scatter

# By how much more of several means the best and the worst lie apart than two do.
OF_SEVERAL = 1.75


class Look(NamedTuple):
    """One curve of a family: who measured what, its figures by setting, and the means of these."""

    family: tuple[Any, ...]
    cells: Mapping[Any, Mapping[int, float]]
    means: Mapping[Any, float]

    @property
    def trials(self) -> tuple[tuple[int, ...], ...]:
        """Return the trials of each setting: what tells a curve from others of its metric."""
        return tuple(sorted(tuple(sorted(cell)) for cell in self.cells.values()))


class Correction(NamedTuple):
    """How many curves a difference in one has to hold with, and the scatter of all of their repetitions."""

    looked: int
    scatter: Scatter


Corrections = Mapping[tuple[Any, ...], Correction]


def corrections_of(looks: Sequence[Look]) -> Corrections:
    """Return the correction of each curve, by its family and its trials; one over two factors counts once."""
    families: dict[tuple[Any, ...], dict[tuple[Any, ...], Look]] = {}
    for look in looks:
        families.setdefault(look.family, {}).setdefault(look.trials, look)
    corrections: dict[tuple[Any, ...], Correction] = {}
    for family, members in families.items():
        cells = {tuple(sorted(cell)): cell for look in members.values() for cell in look.cells.values()}
        scatter = read_scatter([*cell.values()] for cell in cells.values() if min(cell.values()) > 0)
        distances = {trials: _distance(look, scatter) for trials, look in members.items()}
        found, is_told = 0, True
        for trials in sorted(distances, key=lambda key: -distances[key]):
            looked = len(members) - found
            corrections[family, trials] = Correction(looked, scatter)
            is_told = is_told and distances[trials] >= quantile_of(scatter, looked)
            # Where one is not told apart those that differ less are not, either.
            found += is_told
    return corrections


def quantile_of(scatter: Scatter, looked: int = 1) -> float:
    """Return by how many errors two means differ in 5 of 100 by chance, in any of so many pairs looked at."""
    return statistics.student_t_quantile(1 - (1 - statistics.CONFIDENCE) / (2 * looked), scatter.free)


def _distance(look: Look, scatter: Scatter) -> float:
    """Return by how many errors of a difference the best and the worst mean lie apart, as two of two means would."""
    least, most = min(look.means.values()), max(look.means.values())
    if least <= 0:
        return math.inf if most > 0 else 0.0
    error = scatter.share * math.sqrt(2 / min(map(len, look.cells.values())))
    return math.log(most / least) / error / (OF_SEVERAL if len(look.means) > 2 else 1.0)
