"""The matrix by pairs of sites: both directions in one cell, judged by the slower, and the RTT on the other side."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from django.utils.translation import gettext_lazy

from apps.accounts.models import User
from apps.bench import tools
from apps.comparison.matrix.ceilings import has_ceiling
from apps.comparison.matrix.cells import MatrixCell
from apps.comparison.matrix.table import Matrix, matrix_of
from apps.results import queries
from apps.testbeds.models import Site

# From this share of the ceiling on a direction is good, and from this one on fair; beyond the last one the figure, or
# what is described, is wrong.
GOOD, FAIR, BEYOND = 0.9, 0.7, 1.02
# Older figures are hatched.
STALE = timedelta(days=7)
RTT_TOOL, RTT_METRIC = "ping", "rtt_min"
GRADES = {
    "bad": gettext_lazy("below 70 % of the ceiling"),
    "doubted": gettext_lazy("older than what was measured since, which came nowhere near"),
    "fair": gettext_lazy("70 to 90 % of the ceiling"),
    "good": gettext_lazy("90 % of the ceiling or more"),
    "unknown": gettext_lazy("ceiling not known"),
    "none": gettext_lazy("not measured"),
}

Cells = Mapping[tuple[int, int], MatrixCell]


@dataclass(frozen=True)
class PairCell:
    """Two sites: the figure from the first to the second (`there`), the one `back`, and the lowest min RTT."""

    first: Site
    second: Site
    there: MatrixCell | None
    back: MatrixCell | None
    rtt: MatrixCell | None
    now: datetime

    @property
    def directions(self) -> list[tuple[str, MatrixCell]]:
        """Return (arrow, cell) of the directions that were measured."""
        return [(arrow, cell) for arrow, cell in (("→", self.there), ("←", self.back)) if cell]

    @property
    def slower(self) -> MatrixCell | None:
        """Return the direction with the smaller share of its ceiling, None where no share is known."""
        judged = [cell for _arrow, cell in self.directions if cell.share is not None]
        return min(judged, key=lambda cell: cell.share or 0.0, default=None)

    @property
    def grade(self) -> str:
        """Return the key in GRADES of how good the slower direction is."""
        if not self.directions:
            return "none"
        if self.slower is None or self.slower.share is None or self._is_beyond:
            return "unknown"
        if any(cell.is_doubted for _arrow, cell in self.directions):
            return "doubted"
        return "good" if self.slower.share >= GOOD else "fair" if self.slower.share >= FAIR else "bad"

    @property
    def label(self) -> str:
        """Return the grade in words."""
        return str(GRADES[self.grade])

    @property
    def _is_beyond(self) -> bool:
        return any((cell.share or 0.0) > BEYOND for _arrow, cell in self.directions)

    @property
    def is_stale(self) -> bool:
        """Say whether one of the figures is older than STALE."""
        return any(self.now - cell.at > STALE for _arrow, cell in self.directions)

    @property
    def is_rtt_stale(self) -> bool:
        """Say whether the min RTT is older than STALE."""
        return self.rtt is not None and self.now - self.rtt.at > STALE

    @property
    def oldest(self) -> MatrixCell | None:
        """Return the figure that was measured first."""
        return min((cell for _arrow, cell in self.directions), key=lambda cell: cell.at, default=None)


@dataclass(frozen=True)
class PairTable:
    """The matrix as a table: `rows` of (site, its cells), each a PairCell above the diagonal and None on it.

    Below the diagonal stands the same pair again, for what has no direction.
    """

    matrix: Matrix
    rows: list[tuple[Site, list[tuple[PairCell | None, bool]]]]

    @classmethod
    def of(cls, matrix: Matrix, rtts: Cells, now: datetime) -> Self:
        """Return the table of a matrix, with the min RTTs between the same sites."""
        sites = matrix.sites
        pairs = {
            (first.pk, second.pk): PairCell(
                first,
                second,
                matrix.cells.get((first.pk, second.pk)),
                matrix.cells.get((second.pk, first.pk)),
                rtts.get((first.pk, second.pk)) or rtts.get((second.pk, first.pk)),
                now,
            )
            for place, first in enumerate(sites)
            for second in sites[place + 1 :]
        }
        rows = [
            (
                site,
                [
                    (pairs.get((site.pk, other.pk)) or pairs.get((other.pk, site.pk)), (site.pk, other.pk) in pairs)
                    for other in sites
                ],
            )
            for site in sites
        ]
        return cls(matrix, rows)

    @property
    def pairs(self) -> list[PairCell]:
        """Return each pair once, the worst first; what was not measured last."""
        order = list(GRADES)
        return sorted(self._pairs(), key=lambda pair: (order.index(pair.grade), pair.first.name, pair.second.name))

    @property
    def has_ceiling(self) -> bool:
        """Say whether a path can hold the metric down."""
        return has_ceiling(self.matrix.tool, self.matrix.metric)

    @property
    def has_rtts(self) -> bool:
        """Say whether a min RTT stands below the diagonal."""
        return any(pair.rtt for pair in self._pairs())

    @property
    def has_grades(self) -> bool:
        """Say whether a ceiling is known of any pair."""
        return any(pair.slower for pair in self._pairs())

    def _pairs(self) -> Iterator[PairCell]:
        for _site, cells in self.rows:
            yield from (pair for pair, is_above in cells if pair and is_above)


def pair_table(user: User, matrix: Matrix, now: datetime) -> PairTable:
    """Return a matrix by pairs, with the min RTTs that ping measured unless it is of them itself."""
    if matrix.tool.slug == RTT_TOOL:
        return PairTable.of(matrix, {}, now)
    ping = tools.get(RTT_TOOL)
    metric = next(metric for metric in queries.metrics_of(ping) if metric.name == RTT_METRIC)
    return PairTable.of(matrix, matrix_of(user, ping, metric).cells, now)
