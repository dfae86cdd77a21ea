"""Measurements that vary nothing, in the report: those of one tool side by side, both ways of a path in one row."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.contrib.postgres.aggregates import ArrayAgg
from django.utils.translation import gettext as _

from apps.bench import comparison, statistics
from apps.bench.comparison import Centre, Statistic
from apps.bench.tools.base import Metric, Tool, is_invalid
from apps.campaigns.models import Experiment, Lane
from apps.reports.campaign import sentences
from apps.reports.campaign.columns import scale_of
from apps.reports.campaign.material import Material
from apps.reports.document import Block, Column, Figure, Paragraph, Section, Table, Value
from apps.results import charts
from apps.results.comparison.building import EQUAL_WORK
from apps.results.models import Result, Sample

# So many metrics stand side by side.
MOST_METRICS = 4
# From this ratio of the highest to the lowest figure on, a mean does not tell what was seen.
SCATTERED = 1.5


@dataclass
class Entry:
    """One measurement: its figures by metric; `back` has those of the same ends the other way round."""

    experiment: Experiment
    lane: Lane
    values: dict[str, list[float]]
    back: "Entry | None" = None


@dataclass
class Group:
    """The measurements of one tool in one campaign; `heads` are the columns' titles with their metric."""

    tool: Tool
    entries: list[Entry]
    metrics: list[Metric]
    both_ways: bool = False
    heads: list[tuple[str, Metric, bool]] = field(default_factory=list)


def is_single(made: Material, experiment: Experiment) -> bool:
    """Return whether an experiment varies nothing, neither parameters nor nodes."""
    return not experiment.factors and len(made.lanes[experiment.pk]) == 1


def sections(made: Material) -> Iterator[tuple[int, Section]]:
    """Yield (number of its first experiment, section) of each campaign's measurements that vary nothing, by tool."""
    groups: dict[tuple[int, str], list[Experiment]] = defaultdict(list)
    for experiment in made.experiments:
        if is_single(made, experiment) and made.metrics[experiment.pk]:
            groups[experiment.campaign_id, experiment.tool].append(experiment)
    values = _values([item.pk for members in groups.values() for item in members])
    for members in groups.values():
        number = made.numbers[members[0].pk]
        yield number, _section(made, _group(made, members, values))


def _values(experiments: Sequence[int]) -> dict[int, dict[str, list[float]]]:
    """Return {experiment: {metric: figures}} in the order of measurement, without warm-ups and invalid ones."""
    flagged = {
        trial: [flag for flag in flags if flag["severity"] == "invalid"]
        for trial, flags in Result.objects.filter(
            experiment__in=experiments, flags__contains=[{"severity": "invalid"}]
        ).values_list("trial_id", "flags")
    }
    rows = (
        Sample.objects.filter(experiment__in=experiments, trial__is_warmup=False, trial__invalid_at__isnull=True)
        .values_list("experiment_id", "metric")
        .annotate(
            figures=ArrayAgg("value", order_by="trial__position"),
            trials=ArrayAgg("trial_id", order_by="trial__position"),
        )
        .order_by("experiment_id", "metric")
    )
    found: dict[int, dict[str, list[float]]] = defaultdict(dict)
    for experiment, metric, figures, trials in rows:
        kept = [
            value
            for value, trial in zip(figures, trials, strict=True)
            if not any(is_invalid(flag, metric) for flag in flagged.get(trial, ()))
        ]
        if kept:
            found[experiment][metric] = kept
    return found


def _group(made: Material, members: Sequence[Experiment], values: dict[int, dict[str, list[float]]]) -> Group:
    tool = made.tool(members[0])
    entries = [Entry(item, made.lanes[item.pk][0], values.get(item.pk, {})) for item in members]
    known = {metric.name for entry in entries for metric in made.metrics[entry.experiment.pk] if entry.values}
    metrics = [metric for metric in sorted(tool.metrics, key=lambda item: not item.primary) if metric.name in known]
    joined = _both_ways(made, entries)
    group = Group(tool, joined, metrics[:MOST_METRICS], both_ways=any(entry.back for entry in joined))
    if group.both_ways:
        # Each way of each metric has its column: what is said of two ends is said of both.
        group.metrics = metrics[:1]
    for metric in group.metrics:
        group.heads.append((_(metric.label), metric, False))
        if group.both_ways:
            words = {"metric": _(metric.label)}
            group.heads[-1] = (_("%(metric)s, first to second") % words, metric, False)
            group.heads.append((_("%(metric)s, second to first") % words, metric, True))
    return group


def _both_ways(made: Material, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries with those of the same ends and settings the other way round joined to the first of them."""
    kept: list[Entry] = []
    open_pairs: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        ends = made.names_of(entry.lane)
        settings = tuple(sorted((name, str(text)) for name, text in entry.experiment.fixed.items()))
        if len(ends) == 2 and (first := open_pairs.pop((ends[1], ends[0], settings), None)):
            first.back = entry
            continue
        kept.append(entry)
        if len(ends) == 2:
            open_pairs[ends[0], ends[1], settings] = entry
    return kept


def _section(made: Material, group: Group) -> Section:
    first = group.entries[0].experiment
    blocks: list[Block] = []
    if not any(entry.values for entry in group.entries):
        blocks.append(Paragraph((_("There are no valid figures to draw."),), style="warning"))
    else:
        blocks += [_figure(made, group, made.key(first)), _table(made, group, made.key(first))]
    numbers = sorted(made.numbers[item.experiment.pk] for entry in group.entries for item in _parts(entry))
    title = made.heading(first)
    if len(numbers) > 1:
        words = {"name": made.in_campaign(group.tool.name, first), "numbers": _numbers(numbers)}
        title = _("%(name)s (experiments %(numbers)s)") % words
    return Section(f"experiment-{made.key(first)}", title, tuple(blocks))


def _numbers(numbers: Sequence[int]) -> str:
    """Return "2–5, 8" of experiments' numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _parts(entry: Entry) -> list[Entry]:
    return [entry, entry.back] if entry.back else [entry]


def _label(made: Material, group: Group, entry: Entry) -> str:
    """Return what a row is called in the figure."""
    if group.both_ways:
        return " – ".join(made.names_of(entry.lane))
    return entry.experiment.name


def _centre(group: Group, values: Sequence[float] | None, metric: Metric) -> Centre | None:
    if not values:
        return None
    if len(values) == 1:
        return Centre(values[0], None, None)
    equal = group.tool.group in EQUAL_WORK
    mean, _why = statistics.right_mean(metric.unit, equal_work=equal)
    return comparison.centre_of(values, Statistic.MEAN, mean)


def _of(entry: Entry, metric: Metric, *, back: bool) -> list[float] | None:
    part = entry.back if back else entry
    return part.values.get(metric.name) if part else None


def _figure(made: Material, group: Group, key: str) -> Block:
    first = group.metrics[0]
    heads = [head for head in group.heads if head[1].unit == first.unit]
    curves, series = [], []
    for title, metric, back in heads:
        points, drawn = [], []
        for entry in group.entries:
            values = _of(entry, metric, back=back)
            if (centre := _centre(group, values, metric)) and values:
                label = _label(made, group, entry)
                points.append(sentences.Point(label, None, centre.value, values))
                drawn.append(
                    {"x": label, "y": centre.value, "low": centre.low, "high": centre.high, "n": len(values)}
                )
        curves.append(sentences.Curve(title if len(heads) > 1 else "", points, is_metric=len(heads) > 1))
        series.append({"label": title if len(heads) > 1 else "", "points": drawn})
    label = ", ".join(dict.fromkeys(_(metric.label) for _title, metric, _back in heads))
    ceiling, line = _ceiling(group, first)
    chart: dict[str, object] = {
        "kind": "line",
        "metric": {"name": first.name, "label": label, "unit": first.unit, "log": False},
        "x": {"name": "experiment", "label": _("Measurement"), "unit": "", "numeric": False, "log": False},
        "series": series,
        "lines": line,
    }
    shown = sentences.Shown(_(first.label), first.unit, first.higher_is_better, "", curves, ceiling)
    name = group.tool.name if len(group.entries) > 1 else group.entries[0].experiment.name
    if max(len(curve.points) for curve in curves) < 2 and not group.both_ways:
        return Paragraph((sentences.of(shown),), key=f"statement-{key}", style="statement")
    caption = _("%(name)s: %(metric)s") % {"name": name, "metric": label}
    return Figure(f"figure-{key}-{first.name}", caption, chart, sentences.of(shown))


def _ceiling(group: Group, metric: Metric) -> tuple[float | None, list[dict[str, object]]]:
    """Return the ceiling that all paths share, with its line; (None, []) where they differ or it is unknown."""
    bits = charts.RATE_BITS.get(metric.unit)
    found = (
        {charts.theory_of(part.experiment) for entry in group.entries for part in _parts(entry)} if bits else set()
    )
    theory = next(iter(found)) if len(found) == 1 else None
    if not bits or theory is None or not theory.ceiling_bps:
        return None, []
    ceiling = theory.ceiling_bps / bits
    return ceiling, [{"axis": "y", "value": ceiling, "label": _("Ceiling of the path")}]


def _table(made: Material, group: Group, key: str) -> Table:
    columns = [Column(_("First end")), Column(_("Second end"))] if group.both_ways else []
    systems = any(entry.experiment.file_system for entry in group.entries)
    if not group.both_ways:
        columns = [Column(_("Experiment")), Column(_("Nodes"))]
        columns += [Column(_("File system"))] if systems else []
    columns.append(Column(_("n"), kind="number"))
    rows: list[list[Value]] = []
    for entry in group.entries:
        ends = made.names_of(entry.lane)
        cells: list[Value] = list(ends) if group.both_ways else [entry.experiment.name, " → ".join(ends)]
        if systems and not group.both_ways:
            cells.append(entry.experiment.file_system.name if entry.experiment.file_system else "")
        most = max((len(found) for part in _parts(entry) for found in part.values.values()), default=0)
        rows.append([*cells, most])
    for title, metric, back in group.heads:
        _add(group, title, metric, columns, rows, back=back)
    return Table(f"table-{key}", group.tool.name, tuple(columns), rows)


def _add(
    group: Group, title: str, metric: Metric, columns: list[Column], rows: list[list[Value]], *, back: bool
) -> None:
    """Add a metric's columns: the mean, where any has one its interval, and the extremes where figures scatter."""
    figures = [_of(entry, metric, back=back) for entry in group.entries]
    centres = [_centre(group, values, metric) for values in figures]
    scale = scale_of([value for values in figures for value in values or ()], metric.unit)
    columns.append(Column(title, scale.unit, "number"))
    _extend(rows, [scale.of(centre.value) if centre else None for centre in centres])
    if any(centre and centre.low is not None for centre in centres):
        columns += [Column(_("from (95 %)"), scale.unit, "number"), Column(_("to (95 %)"), scale.unit, "number")]
        _extend(rows, [scale.of(centre.low) if centre else None for centre in centres])
        _extend(rows, [scale.of(centre.high) if centre else None for centre in centres])
    if any(values and min(values) > 0 and max(values) >= SCATTERED * min(values) for values in figures):
        columns += [Column(_("least"), scale.unit, "number"), Column(_("most"), scale.unit, "number")]
        _extend(rows, [scale.of(min(values)) if values else None for values in figures])
        _extend(rows, [scale.of(max(values)) if values else None for values in figures])


def _extend(rows: list[list[Value]], values: Sequence[float | None]) -> None:
    for row, value in zip(rows, values, strict=True):
        row.append(value)
