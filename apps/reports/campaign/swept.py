"""A sweep in the report: a figure with what it shows, and the table of every point."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bench import comparison
from apps.bench.tools.base import Metric
from apps.campaigns.models import Experiment
from apps.core import messages
from apps.reports.campaign import sentences
from apps.reports.campaign.columns import column_of, scale_of
from apps.reports.campaign.material import Material
from apps.reports.document import Block, Column, Figure, Paragraph, Section, Table, Value
from apps.results.comparison import building, drawing, factors, gathering
from apps.results.comparison.building import Comparison
from apps.results.comparison.factors import Factor
from apps.results.comparison.gathering import Row
from apps.results.comparison.sets import ResultSet
from apps.results.comparison.state import State

# A figure tells so many lines apart.
MOST_SERIES = 8
# Beside the metrics that are drawn the table has so many others.
MORE_METRICS = 2
# A report's table has so many points; the appendix has every trial.
MOST_ROWS = 500


def section(made: Material, experiment: Experiment) -> Section:
    """Return the section of one experiment that varies something."""
    key = made.key(experiment)
    metrics = made.metrics[experiment.pk]
    blocks: list[Block] = []
    if not metrics:
        text = _("Nothing was measured. Trials: %(outcomes)s.")
        words = {"outcomes": made.trials(experiment).outcomes or "0"}
        blocks.append(Paragraph((text % words,), style="warning"))
    else:
        drawn = _drawn(made, experiment)
        shown = [(metric, _compare(made, experiment, metric)) for metric in drawn]
        more = [metric for metric in metrics if metric not in drawn][:MORE_METRICS]
        blocks += [figure(f"figure-{key}-{metric.name}", found, made.title_of(experiment)) for metric, found in shown]
        blocks.append(_table(made, experiment, [found for _metric, found in shown], more))
        blocks += [_remarks(found) for _metric, found in shown[:1] if found.remarks]
    return Section(f"experiment-{key}", made.heading(experiment), tuple(blocks))


def figure(key: str, found: Comparison, title: str) -> Block:
    """Return the figure of a comparison, or why there is none."""
    charts = drawing.charts_of(found)
    if not charts or not found.metric:
        return Paragraph((_("There are no valid figures to draw."),), style="warning")
    words = {"metric": _(found.metric.label), "axis": found.axis.label, "name": title}
    caption = _("%(name)s: %(metric)s by %(axis)s") % words
    return Figure(key, caption, charts[0][1], sentences.of(shown_of(found, charts[0][1])))


def shown_of(found: Comparison, chart: dict[str, object]) -> sentences.Shown:
    """Return what is to be said of a comparison."""
    assert found.metric
    curves: dict[str, list[sentences.Point]] = defaultdict(list)
    for cell in found.cells:
        x = cell.x if found.axis.numeric and isinstance(cell.x, int | float) else None
        point = sentences.Point(found.axis.text(cell.x), x, cell.centre.value, cell.values)
        curves[drawing.label_of(found, cell)].append(point)
    lines = chart.get("lines")
    heights = [line["value"] for line in lines if line["axis"] == "y"] if isinstance(lines, list) else []
    return sentences.Shown(
        metric=_(found.metric.label),
        unit=found.metric.unit,
        higher_is_better=found.metric.higher_is_better,
        axis=found.axis.label,
        curves=[sentences.Curve(label, points) for label, points in curves.items()],
        # Paths of several ceilings have no common one.
        ceiling=heights[0] if len(heights) == 1 else None,
    )


def _drawn(made: Material, experiment: Experiment) -> list[Metric]:
    """Return the metrics that get a figure: the primary one, of storage also the next of its kind."""
    metrics = made.metrics[experiment.pk]
    alike = [item for item in metrics if item.axis == metrics[0].axis and item.unit == metrics[0].unit]
    return alike[:2] if made.tool(experiment).group == "storage" else metrics[:1]


def _compare(made: Material, experiment: Experiment, metric: Metric) -> Comparison:
    state = State(sets=(ResultSet(numbers=(("experiment", experiment.pk),)),), metric=metric.name)
    return told_apart(state, made.user)


def told_apart(state: State, user: User) -> Comparison:
    """Return the figures by the usual axis, and one line for each value of the factor that has the fewest."""
    found = building.compare(state, user)
    others = [
        factor
        for factor in found.factors
        if factor.name != found.axis.name
        and (factor.is_parameter or factor.name == factors.NODES)
        and len(factor.values) <= MOST_SERIES
    ]
    if not others:
        return found
    series = min(others, key=lambda factor: len(factor.values))
    return building.compare(replace(state, series=series.name), user)


@dataclass(frozen=True)
class _Places:
    """The figures of a metric by place of the table."""

    metric: Metric
    values: dict[tuple[Hashable, ...], list[float]]
    found: Comparison | None = None


def _table(made: Material, experiment: Experiment, shown: Sequence[Comparison], more: Sequence[Metric]) -> Table:
    """Return every point with n, the centre and interval of the metrics drawn, and the mean of some others."""
    first = shown[0]
    varied = [factor for factor in first.factors if factor.is_parameter or factor.name == factors.NODES]
    parts = [_Places(found.metric, _by_place(found, varied), found) for found in shown if found.metric]
    for metric in more:
        gathered = gathering.gather(first.gathered.choices, metric.name)
        parts.append(_Places(metric, _by_place(replace(first, gathered=gathered), varied)))
    places = sorted(
        parts[0].values, key=lambda key: [factor.place(value) for factor, value in zip(varied, key, strict=True)]
    )
    columns = [Column(factor.label) for factor in varied] + [Column(_("n"), kind="number")]
    cells: list[list[Value]] = [
        [*(factor.text(value) for factor, value in zip(varied, key, strict=True)), len(parts[0].values[key])]
        for key in places[:MOST_ROWS]
    ]
    for part in parts:
        _add_metric(part, first, places[:MOST_ROWS], columns, cells)
    key = made.key(experiment)
    note = f"{building.statistic_label(first)} – {_(first.why_mean)}"
    total = len(places) if len(places) > MOST_ROWS else 0
    return Table(f"table-{key}", made.title_of(experiment), tuple(columns), cells, note=note, total=total)


def _by_place(found: Comparison, varied: Sequence[Factor]) -> dict[tuple[Hashable, ...], list[float]]:
    values: dict[tuple[Hashable, ...], list[float]] = defaultdict(list)
    for rows in found.gathered.rows:
        for row in rows:
            values[_key(row, varied, found)].extend(row.values)
    return values


def _key(row: Row, varied: Sequence[Factor], found: Comparison) -> tuple[Hashable, ...]:
    return tuple(factors.value_of(row, factor.name, found.gathered) for factor in varied)


def _add_metric(
    part: _Places,
    first: Comparison,
    places: Sequence[tuple[Hashable, ...]],
    columns: list[Column],
    cells: list[list[Value]],
) -> None:
    """Add a metric's columns: its centre, of those drawn also the interval where any place has one."""
    mean = part.found.mean if part.found else first.mean
    centres = [
        comparison.centre_of(part.values[key], first.state.statistic, mean) if part.values.get(key) else None
        for key in places
    ]
    scale = scale_of([centre.value for centre in centres if centre], part.metric.unit)
    columns.append(column_of(part.metric, scale))
    for row, centre in zip(cells, centres, strict=True):
        row.append(scale.of(centre.value) if centre else None)
    if part.found is None or not any(centre and centre.low is not None for centre in centres):
        return
    columns += [Column(_("from (95 %)"), scale.unit, "number"), Column(_("to (95 %)"), scale.unit, "number")]
    for row, centre in zip(cells, centres, strict=True):
        row += [scale.of(centre.low) if centre else None, scale.of(centre.high) if centre else None]


def _remarks(found: Comparison) -> Block:
    return Paragraph((" ".join(messages.render(remark.message) for remark in found.remarks),), style="remark")
