"""The second step: all that is known of what was chosen: rows of figures, what varies, surroundings and paths."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain

from apps.bench.statistics import Mean
from apps.comparison.comparisons import environment, factors, figure_rows, paths
from apps.comparison.comparisons.choice import SetChoice
from apps.comparison.comparisons.environment import Environments
from apps.comparison.comparisons.factors import Columns, VariedFactor
from apps.comparison.comparisons.figure_rows import FigureRows
from apps.comparison.comparisons.paths import Ceilings, Paths
from apps.comparison.comparisons.state import ComparisonState
from apps.results import charts


@dataclass(frozen=True)
class Gathering:
    """The figures of a choice, and what is known of them.

    `factors` vary over all sets, `constants` have one value, `columns` have all values, and `sets` are the sets as a
    factor. `untold` labels settings that nobody told of some results. `mean` is right for all figures, `why_mean`
    says why (a msgid). `ceilings` are what no figure exceeds, in the metric's unit.
    """

    choice: SetChoice
    figures: FigureRows
    columns: Columns
    factors: tuple[VariedFactor, ...]
    constants: Mapping[str, VariedFactor]
    sets: VariedFactor
    untold: tuple[str, ...]
    mean: Mean
    why_mean: str
    environments: Environments
    paths: Paths
    ceilings: Ceilings

    def varies_within(self, factor: VariedFactor) -> bool:
        """Return whether a set has more than one value of a factor, so that there is something to fix."""
        return any(len(set(of_set)) > 1 for of_set in self.columns[factor.name])

    def with_state(self, state: ComparisonState) -> "Gathering":
        """Return the same for a state that has other places for the figures: another axis, series or fixed values."""
        return replace(self, choice=replace(self.choice, state=state))

    def for_others(self) -> "Gathering":
        """Return the same without what agents told."""
        return replace(self, environments=self.environments.for_others or self.environments)


def gather(choice: SetChoice) -> Gathering:
    """Return the figures of a choice's metric with what is known of them: nothing is read from the database later."""
    name, unit = (choice.metric.name, choice.metric.unit) if choice.metric else ("", "")
    figures = figure_rows.rows_of(choice, name, include_invalid=choice.state.invalid)
    mean, why = figure_rows.mean_of(figures, unit)
    columns = factors.columns_of(figures)
    varied, constants = factors.factors_of(columns, figures)
    sets = factors.of_sets(choice.titles)
    untold = factors.untold_of(varied, figures)
    environments = environment.environments_of(figures)
    # Lines of theory stand at rates, and at windows.
    routes = paths.paths_of(figures) if unit in charts.RATE_BITS or "window" in columns else {}
    return Gathering(
        choice=choice,
        figures=figures,
        columns=columns,
        factors=varied,
        constants=constants,
        sets=sets,
        untold=untold,
        mean=mean,
        why_mean=why,
        environments=environments,
        paths=routes,
        ceilings=paths.ceilings_of(paths.loads_of(chain.from_iterable(figures.rows)), routes, unit),
    )
