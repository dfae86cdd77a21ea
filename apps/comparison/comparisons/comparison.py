"""The third step: figures by set, axis and series, each against its baseline, and what speaks against it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.bench.comparison import Deviation, Joint, Remark, RemarkLevel
from apps.bench.statistics import Mean
from apps.bench.sweep import likeness
from apps.bench.text import Message
from apps.bench.toolkit import Metric
from apps.comparison.comparisons.cells import ComparisonCell, cells_of
from apps.comparison.comparisons.contrasts import TableContrasts, contrasts_of
from apps.comparison.comparisons.factors import VariedFactor
from apps.comparison.comparisons.gathering import Gathering
from apps.comparison.comparisons.judgement import judge
from apps.comparison.comparisons.layout import lay_out
from apps.comparison.comparisons.places import places_of
from apps.comparison.comparisons.state import ComparisonState


@dataclass(frozen=True)
class Comparison:
    """All that the page, the REST interface, the downloads and reports show of a state.

    `factors` vary over all sets, of which `named` were told: what keeps untold settings apart is none to show or to
    choose. For `axis` to `missing` see `TableLayout`. Of a set alone `deviations` are what changed while it was
    measured. `overall` has each set's answer over all settings that it has in common with the baseline.
    `remarks_for_others` are the remarks of whoever may not read what agents told.
    """

    gathering: Gathering
    state: ComparisonState
    titles: tuple[str, ...]
    metrics: tuple[Metric, ...]
    metric: Metric | None
    unit: str
    mean: Mean
    why_mean: str
    factors: tuple[VariedFactor, ...]
    named: tuple[VariedFactor, ...]
    axis: VariedFactor
    series: VariedFactor | None
    apart: tuple[VariedFactor, ...]
    averaged: tuple[VariedFactor, ...]
    fixed: tuple[tuple[VariedFactor, str], ...]
    has_fixed: tuple[Sequence[bool], ...]
    missing: Mapping[str, list[Message]]
    cells: tuple[ComparisonCell, ...]
    deviations: tuple[Deviation, ...]
    remarks: tuple[Remark, ...]
    remarks_for_others: tuple[Remark, ...]
    is_comparable: bool
    overall: Mapping[int, Joint]

    def rest_of(self, cell: ComparisonCell) -> str:
        """Return "Streams 4, Length 8 KiB": what tells a place apart beside the axis and the series."""
        pairs = zip(self.apart, cell.rest, strict=True)
        return ", ".join(f"{factor.label} {factor.text(value)}" for factor, value in pairs)


def compare(gathering: Gathering) -> Comparison:
    """Return the comparison of what was gathered; contrasts only where nothing forbids them."""
    choice, layout = gathering.choice, lay_out(gathering)
    places = places_of(gathering, layout)
    deviations, remarks = judge(gathering, layout, places)
    _deviations, remarks_for_others = judge(gathering.for_others(), layout, places)
    is_comparable = not any(remark.level is RemarkLevel.REFUSAL for remark in remarks)
    contrasts = contrasts_of(gathering, layout, places) if is_comparable else TableContrasts()
    return Comparison(
        gathering=gathering,
        state=choice.state,
        titles=choice.titles,
        metrics=choice.metrics,
        metric=choice.metric,
        unit=choice.metric.unit if choice.metric else "",
        mean=gathering.mean,
        why_mean=gathering.why_mean,
        factors=gathering.factors,
        named=tuple(factor for factor in gathering.factors if likeness.is_told(factor.name)),
        axis=layout.axis,
        series=layout.series,
        apart=layout.apart,
        averaged=layout.averaged,
        fixed=layout.fixed,
        has_fixed=layout.has_fixed,
        missing=layout.missing,
        cells=cells_of(gathering, places, contrasts),
        deviations=deviations,
        remarks=(*remarks, *contrasts.remarks),
        remarks_for_others=(*remarks_for_others, *contrasts.remarks),
        is_comparable=is_comparable,
        overall=contrasts.overall,
    )
