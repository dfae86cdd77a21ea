"""The cells of a comparison's table: the figures of a place, their centre, and the contrast with the baseline."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from apps.bench import statistics
from apps.bench.comparison import Centre, Contrast, centre_of
from apps.bench.statistics import Modes, bounds
from apps.bench.statistics.bounds import Clipped
from apps.comparison.comparisons import paths
from apps.comparison.comparisons.contrasts import TableContrasts
from apps.comparison.comparisons.gathering import Gathering
from apps.comparison.comparisons.places import FigurePlace


@dataclass(frozen=True)
class ComparisonCell:
    """One place of the table: its figures, their centre, and the contrast with the baseline, if it has one.

    `ends` are those of the centre's interval as far as figures can lie there at all. Outliers and modes are those of
    one setting.
    """

    set: int
    x: Hashable
    series: Hashable
    rest: tuple[Hashable, ...]
    values: tuple[float, ...]
    trials: tuple[int, ...]
    settings: int
    centre: Centre
    ends: Clipped
    contrast: Contrast | None
    is_baseline: bool

    @property
    def n(self) -> int:
        """Return the number of figures."""
        return len(self.values)

    @cached_property
    def outliers(self) -> tuple[tuple[int, float], ...]:
        """Return (trial, figure) of those that stand apart."""
        places = statistics.find_outliers(self.values) if self.settings == 1 else ()
        return tuple((self.trials[place], self.values[place]) for place in places)

    @cached_property
    def modes(self) -> Modes | None:
        """Return the two modes of the figures, None if they are one."""
        return statistics.find_modes(self.values) if self.settings == 1 else None


def cells_of(
    gathering: Gathering, places: Sequence[FigurePlace], contrasts: TableContrasts
) -> tuple[ComparisonCell, ...]:
    """Return the cells of all places, in their order."""
    metric, statistic = gathering.choice.metric, gathering.choice.state.statistic
    name, unit = (metric.name, metric.unit) if metric else ("", "")
    evenness = statistics.evenness_of(place.values for place in places if place.settings == 1)
    table = []
    for place in places:
        centre = centre_of(place.values, statistic, gathering.mean, evenness)
        ceiling = paths.ceiling_of(gathering.ceilings, place.loads)
        table.append(
            ComparisonCell(
                *place.key,
                values=place.values,
                trials=place.trials,
                settings=place.settings,
                centre=centre,
                ends=bounds.clipped(centre.low, centre.high, unit, place.values, ceiling, name),
                contrast=contrasts.of_places.get(place.key),
                is_baseline=place.key in contrasts.baselines,
            )
        )
    return tuple(table)
