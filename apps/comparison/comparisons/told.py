"""Sets of which only an archive says that something was measured."""

from collections.abc import Iterable

from apps.comparison.comparisons.figure_rows import FigureRow, Gathered


def has_told(gathered: Gathered, rows: Iterable[FigureRow]) -> bool:
    """Return whether any of the rows is of a campaign that only an archive says was measured."""
    return any(gathered.experiments[pk].campaign.is_told for pk in {row.experiment for row in rows})
