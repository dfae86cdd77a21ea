"""The table under a comparison's chart: a line for each place, the sets side by side."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from apps.bench import statistics, units
from apps.bench.comparison import ContrastVerdict
from apps.bench.statistics.bounds import Clipped
from apps.comparison.comparisons import factors
from apps.comparison.comparisons.cells import ComparisonCell
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.presentation import charts
from apps.core.messages import render
from apps.results import intervals
from apps.results.doubts import Mark

# Of a cell's trials so many are linked; the download has them all.
LINKED = 8


@dataclass(frozen=True)
class CellEntry:
    """One set's figures at one place, as texts; `better` is None where there is no better or no difference."""

    cell: ComparisonCell
    value: str
    interval: str
    method: str
    ratio: str
    ratio_method: str
    verdict: str
    detail: str
    better: bool | None
    note: str
    linked: Sequence[int]
    mark: Mark | None

    @property
    def more(self) -> int:
        """Return how many trials are not linked."""
        return self.cell.n - len(self.linked)


@dataclass(frozen=True)
class ComparisonLine:
    """One place: the text of the axis, of the series, and an entry a column (None: not measured)."""

    x: str
    series: str
    rest: str
    entries: list[CellEntry | None]


def columns_of(comparison: Comparison) -> Sequence[str]:
    """Return the titles of the columns: the sets, or where these are on the axis only the figures."""
    return [_("Figures")] if comparison.axis.name == factors.SET else comparison.titles


def lines_of(comparison: Comparison) -> list["LineCells"]:
    """Return the cells by place, in the order of the axis; texts are made only for those that are shown."""
    places: dict[tuple[Hashable, ...], LineCells] = {}
    on_sets = comparison.axis.name == factors.SET
    for cell in comparison.cells:
        place = places.setdefault((cell.x, cell.series, cell.rest), LineCells([None] * len(columns_of(comparison))))
        place.cells[0 if on_sets else cell.set] = cell
    return list(places.values())


@dataclass
class LineCells:
    """The cells of one line, a column each."""

    cells: list[ComparisonCell | None]

    @property
    def first(self) -> ComparisonCell:
        """Return a cell that is there."""
        return next(cell for cell in self.cells if cell)


def line_of(comparison: Comparison, place: LineCells) -> ComparisonLine:
    """Return a line as it is shown."""
    first = place.first
    return ComparisonLine(
        x=comparison.axis.text(first.x),
        series=comparison.series.text(first.series) if comparison.series else "",
        rest=comparison.rest_of(first),
        entries=[entry_of(comparison, cell) if cell else None for cell in place.cells],
    )


def entry_of(comparison: Comparison, cell: ComparisonCell) -> CellEntry:
    """Return one cell's texts."""
    ratio, ratio_method, verdict, detail, better = "", "", "", "", None
    if cell.contrast and comparison.metric:
        ratio = _ratio(comparison, cell)
        method = cell.contrast.difference.message
        ratio_method = render(method) if method and cell.contrast.difference.ratio else ""
        verdict = verdict_text(cell.contrast.verdict)
        detail = _detail(cell)
        better = cell.contrast.is_better(higher_is_better=comparison.metric.higher_is_better)
    centre = cell.centre
    ends = cell.ends
    low, high = (
        None if end is None else units.format_quantity(end, comparison.unit) for end in (ends.low, ends.high)
    )
    return CellEntry(
        cell=cell,
        value=units.format_quantity(centre.value, comparison.unit),
        interval=f"{low} – {high}" if low is not None and high is not None else "",
        method=_method(cell, ends),
        ratio=ratio,
        ratio_method=ratio_method,
        verdict=verdict,
        detail=detail,
        better=better,
        note=charts.note_of(comparison, cell),
        linked=cell.trials[:LINKED],
        mark=comparison.gathering.figures.doubts.about(cell.trials, comparison.gathering.figures.metric),
    )


def _method(cell: ComparisonCell, ends: Clipped) -> str:
    """Return which interval it is, and whether it is cut."""
    if cell.centre.interval is None:
        return ""
    method = render(cell.centre.interval.message)
    return f"{method}. {intervals.cut_note()}" if ends.is_cut else method


def p_text(p: float) -> str:
    """Return "p = 0.02", or where that is very small "p < 0.001"."""
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def overall_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Return what is said of each set against the baseline over all the settings that both have."""
    answers = []
    for place, answer in comparison.overall.items():
        cells = [cell for cell in comparison.cells if cell.set == place and cell.contrast]
        ratios = sorted(
            cell.contrast.difference.ratio for cell in cells if cell.contrast and cell.contrast.difference.ratio
        )
        differs = answer.verdict in (ContrastVerdict.HIGHER, ContrastVerdict.LOWER)
        up = answer.verdict is ContrastVerdict.HIGHER
        good = comparison.metric.higher_is_better if comparison.metric else None
        answers.append(
            {
                "title": comparison.titles[place],
                "p": p_text(answer.together.p),
                "share": f"{100 * answer.together.superiority:.0f} %",
                "settings": answer.together.strata,
                "verdict": verdict_text(answer.verdict),
                "better": None if good is None or not differs else up == good,
                "higher": answer.count(ContrastVerdict.HIGHER),
                "lower": answer.count(ContrastVerdict.LOWER),
                "few": answer.count(ContrastVerdict.TOO_FEW),
                "ratios": _ratios_text(ratios),
            }
        )
    return answers


def _ratios_text(ratios: Sequence[float]) -> str:
    """Return the ratios of all places, ascending: how far they lie apart, which is no interval of what all have."""
    if len(ratios) < 2:
        return f"× {ratios[0]:.3g}" if ratios else ""
    words = {"n": len(ratios), "low": f"{ratios[0]:.3g}", "high": f"{ratios[-1]:.3g}"}
    return _("ratios of %(n)s places from × %(low)s to × %(high)s") % words


def _ratio(comparison: Comparison, cell: ComparisonCell) -> str:
    """Return "× 1.25 (1.20 – 1.30, 95 %)", or the difference where there is no ratio."""
    assert cell.contrast
    difference = cell.contrast.difference
    if difference.ratio is None:
        sign = "+" if difference.shift >= 0 else ""
        return f"{sign}{units.format_quantity(difference.shift, comparison.unit)}"
    if difference.ratio_low is None or difference.ratio_high is None or difference.confidence is None:
        return f"× {difference.ratio:.3g}"
    percent = statistics.percent_of(difference.confidence)
    return f"× {difference.ratio:.3g} ({difference.ratio_low:.3g} – {difference.ratio_high:.3g}, {percent} %)"


def verdict_text(verdict: ContrastVerdict) -> str:
    """Return what is said of figures against their baseline."""
    return {
        ContrastVerdict.HIGHER: _("higher"),
        ContrastVerdict.LOWER: _("lower"),
        ContrastVerdict.NO_DIFFERENCE: _("no significant difference"),
        ContrastVerdict.TOO_FEW: _("too few to tell"),
        ContrastVerdict.MIXED: _("at some settings so, at others not"),
    }[verdict]


def _detail(cell: ComparisonCell) -> str:
    """Return the test behind a verdict: p, corrected, and the size of the effect."""
    assert cell.contrast
    if cell.contrast.verdict is ContrastVerdict.TOO_FEW:
        return _("So few figures, or figures so equal, tell nothing of their scatter: repeat more often.")
    effects = {"none": _("no effect"), "small": _("small"), "medium": _("medium"), "large": _("large")}
    return _("%(p)s after Holm, effect: %(effect)s (%(share)s of pairs above)") % {
        "p": p_text(cell.contrast.p),
        "effect": effects[cell.contrast.effect],
        "share": f"{100 * cell.contrast.difference.superiority:.0f} %",
    }
