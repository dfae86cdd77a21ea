"""The words of a comparison that pages, REST, downloads and reports share."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from apps.bench.comparison import Statistic
from apps.comparison.comparisons import factors
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.figure_rows import FigureRow
from apps.results import means


def statistic_label(comparison: Comparison) -> str:
    """Return what the figures shown are called."""
    if comparison.state.statistic is Statistic.MEDIAN:
        return _("Median")
    return means.label_of(comparison.mean)


def baseline_title(comparison: Comparison) -> str:
    """Return what the others are compared with, "" where there is nothing to compare with."""
    state = comparison.state
    for factor, text in ((comparison.axis, state.base_axis), (comparison.series, state.base_series)):
        if text is not None and factor and factor.name != factors.SET and text in factor.keys:
            return f"{factor.label} {factor.texts[factor.keys.index(text)]}"
    return comparison.titles[state.baseline] if len(comparison.titles) > 1 else ""


def has_told(comparison: Comparison, rows: Iterable[FigureRow]) -> bool:
    """Return whether any of the rows is of a campaign of which only an archive says that it was measured."""
    experiments = comparison.gathering.choice.experiments
    return any(experiments[pk].campaign.is_told for pk in {row.experiment for row in rows})
