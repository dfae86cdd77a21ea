"""A sweep in the report: figures with what they show, and the table of every point that they are asked of."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from django.utils.translation import gettext as _

from apps.accounts.models import Team, User
from apps.bench.comparison import Remark
from apps.bench.toolkit import Metric
from apps.campaigns.models import Experiment
from apps.comparison.comparisons import factors
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import Comparison, compare
from apps.comparison.comparisons.factors import VariedFactor
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.presentation import charts
from apps.comparison.comparisons.sets import ResultSet
from apps.comparison.comparisons.state import ComparisonState
from apps.core import messages
from apps.reports.campaign import loads, points, sentences
from apps.reports.campaign.material import Material
from apps.reports.document import Block, Figure, Paragraph, Section, Table, Topic, others_read
from apps.results import loss

# A figure tells so many lines apart.
MOST_SERIES = 8
# Beside the metrics that are drawn the table has so many others.
MORE_METRICS = 2
# What neither stands on the axis nor has a line of its own has a figure for each of so many values.
MOST_PANELS = 4


def section(material: Material, experiment: Experiment) -> Section:
    """Return the section of one experiment that varies something."""
    key = material.key(experiment)
    metrics = material.metrics[experiment.pk]
    blocks: list[Block] = []
    if not metrics:
        text = _("Nothing was measured. Trials: %(outcomes)s.")
        words = {"outcomes": material.trials(experiment).outcomes or "0"}
        blocks.append(Paragraph((text % words,), style="warning"))
    else:
        metrics_drawn = _drawn(material, experiment)
        pairs = [(metric, _compare(material, experiment, metric)) for metric in metrics_drawn]
        more = [metric for metric in metrics if metric not in metrics_drawn][:MORE_METRICS]
        title = material.title_of(experiment)
        table = points.table_of(f"table-{key}", title, [comparison for _metric, comparison in pairs], more)
        sweeps = loss.sweeps_of(experiment, material.tool(experiment))
        knees = _knees(sweeps)
        for metric, comparison in pairs:
            figures = _panels(f"figure-{key}-{metric.name}", comparison, title, table)
            blocks += [
                _with_knees(block, knees) if metric.name in (loss.LOSS, loss.JITTER) else block for block in figures
            ]
        blocks += [*loads.blocks_of(key, title, sweeps), table]
        blocks += _remarks(pairs[0][1])
    return Section(f"experiment-{key}", material.heading(experiment), tuple(blocks))


def figure(key: str, comparison: Comparison, title: str) -> Block:
    """Return the figure of a comparison with a table of its own behind it, or why there is none."""
    table = points.table_of(f"{key}-data", title, [comparison], ())
    block = _figure(key, comparison, title, table, ())
    return replace(block, data=table) if isinstance(block, Figure) else block


def told_apart(state: ComparisonState, user: User, team: Team | None = None) -> Comparison:
    """Return the figures by the usual axis, and one line for each value of the factor that has the fewest."""
    comparison = compare(gathering := gather(choose(state, user, team)))
    others = [
        factor
        for factor in comparison.factors
        if factor.name != comparison.axis.name
        and (factor.is_parameter or factor.name == factors.NODES)
        and len(factor.values) <= MOST_SERIES
    ]
    if not others:
        return comparison
    series = min(others, key=lambda factor: len(factor.values))
    return compare(gathering.with_state(replace(state, series=series.name)))


def _panels(key: str, comparison: Comparison, title: str, table: Table) -> list[Block]:
    """Return a figure for each value of what is neither on the axis nor a line: nothing is averaged over it."""
    on_axes = {comparison.axis.name, comparison.series.name if comparison.series else ""}
    rest = [factor for factor in points.varied_of(comparison) if factor.name not in on_axes]
    settings = list(product(*(factor.values for factor in rest)))
    settings_measured = [
        setting
        for setting in settings
        if points.has_rows(comparison, dict(zip((factor.name for factor in rest), setting, strict=True)))
    ]
    blocks: list[Block] = []
    for number, setting in enumerate(settings_measured[:MOST_PANELS], start=1):
        fixed = [(factor, value) for factor, value in zip(rest, setting, strict=True)]
        texts = tuple((factor.name, factor.keys[factor.place(value)]) for factor, value in fixed)
        state = replace(comparison.state, axis=comparison.axis.name, fixed=texts)
        panel = compare(comparison.gathering.with_state(state)) if rest else comparison
        blocks.append(_figure(key if number == 1 else f"{key}-{number}", panel, title, table, fixed))
    if len(settings_measured) > MOST_PANELS:
        names = ", ".join(factor.label for factor in rest)
        text = _("Figures are drawn for %(drawn)s of %(all)s settings of %(names)s; the table has all.")
        words = {"drawn": MOST_PANELS, "all": len(settings_measured), "names": names}
        blocks.append(Paragraph((text % words,), style="remark"))
    return blocks


def _figure(
    key: str, comparison: Comparison, title: str, table: Table, fixed: Sequence[tuple[VariedFactor, object]]
) -> Block:
    drawn = charts.charts_of(comparison)
    if not drawn or not comparison.metric:
        return Paragraph((_("There are no valid figures to draw."),), style="warning")
    words = {"metric": _(comparison.metric.label), "axis": comparison.axis.label, "name": title}
    caption = _("%(name)s: %(metric)s by %(axis)s") % words
    if fixed:
        caption += f" ({', '.join(f'{factor.label} {factor.text(value)}' for factor, value in fixed)})"
    statements = sentences.of(_shown_of(comparison, drawn[0][1], table, fixed), table)
    return Figure(key, caption, drawn[0][1], sentences.text_of(statements), says=statements)


def _shown_of(
    comparison: Comparison, chart: dict[str, object], table: Table, fixed: Sequence[tuple[VariedFactor, object]]
) -> sentences.FigureTopic:
    """Return what a figure shows of the table's rows."""
    assert comparison.metric
    columns = points.columns_of(comparison)
    axis = columns.get(comparison.axis.name)
    better = {True: "higher", False: "lower", None: ""}[comparison.metric.higher_is_better]
    if comparison.metric.axis == comparison.axis.name == loss.RATE:
        # What arrives beyond a knee of offered loads is the curve of loss's to tell: a rate over the time of a run,
        # the draining of queues in it, is another figure of the same plateau.
        better = ""
    topic = Topic(
        table=table.key,
        of=points.column_of_metric(table, comparison.metric),
        by=() if axis is None else (axis,),
        rows=tuple((columns[factor.name], factor.text(value)) for factor, value in fixed),
        unit=comparison.metric.unit,
        metric=_(comparison.metric.label),
        axis="" if axis is None else comparison.axis.label,
        better=better,
    )
    lines = chart.get("lines")
    heights = [line["value"] for line in lines if line["axis"] == "y"] if isinstance(lines, list) else []
    lines_of, label, title = _lines(comparison, columns)
    # Paths of several ceilings have no common one.
    ceiling = float(heights[0]) if len(heights) == 1 else None
    return sentences.FigureTopic(topic, lines_of, label, title, ceiling)


def _lines(comparison: Comparison, columns: dict[str, int]) -> tuple[list[sentences.FigureLine], int | None, str]:
    """Return the lines of a comparison's figure, and the column that tells them apart with its words."""
    sets = columns.get(factors.SET) if comparison.axis.name != factors.SET else None
    series = columns.get(comparison.series.name) if comparison.series else None
    labels: dict[tuple[tuple[int, str], ...], str] = {}
    for cell in comparison.cells:
        rows: tuple[tuple[int, str], ...] = () if sets is None else ((sets, comparison.titles[cell.set]),)
        if comparison.series and series is not None:
            rows += ((series, comparison.series.text(cell.series)),)
        labels.setdefault(rows, charts.label_of(comparison, cell))
    lines = [sentences.FigureLine(label, rows) for rows, label in labels.items()]
    told_by = series if sets is None else sets if series is None else None
    return lines, told_by, comparison.series.label if comparison.series and sets is None else ""


def _knees(sweeps: list[loss.LossSweep]) -> list[dict[str, object]]:
    """Return the lines of the loads from which on datagrams are lost; none of what is no sweep of loads."""
    charts: Any = loss.charts_of(sweeps)["charts"]
    return [line for chart in charts[:1] for line in chart["lines"]]


def _with_knees(block: Block, knees: Sequence[dict[str, object]]) -> Block:
    if not isinstance(block, Figure) or not knees:
        return block
    own: Any = block.chart.get("lines", [])
    return replace(block, chart={**block.chart, "lines": [*own, *knees]})


def _drawn(material: Material, experiment: Experiment) -> list[Metric]:
    """Return the metrics that get a figure: the primary one, of storage the next one, of loads what is lost."""
    metrics = material.metrics[experiment.pk]
    if loss.RATE in {factor["name"] for factor in experiment.factors}:
        return [metrics[0], *(item for item in metrics[1:] if item.name in (loss.LOSS, loss.JITTER))]
    alike = [item for item in metrics if item.axis == metrics[0].axis and item.unit == metrics[0].unit]
    return alike[:2] if material.tool(experiment).group == "storage" else metrics[:1]


def _compare(material: Material, experiment: Experiment, metric: Metric) -> Comparison:
    state = ComparisonState(sets=(ResultSet(numbers=(("experiment", experiment.pk),)),), metric=metric.name)
    return told_apart(state, material.user, material.main.team)


def _remarks(comparison: Comparison) -> list[Block]:
    def of(remarks: Sequence[Remark]) -> list[Block]:
        text = " ".join(messages.render(remark.message) for remark in remarks)
        return [Paragraph((text,), style="remark")] if text else []

    return others_read(of(comparison.remarks), of(comparison.remarks_for_others))
