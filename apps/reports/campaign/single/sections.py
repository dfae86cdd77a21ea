"""Measurements that vary nothing, in the report: those of one tool side by side, both ways of a path in one row."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from apps.bench import comparison, statistics
from apps.bench.comparison import Centre, Statistic
from apps.bench.toolkit import Metric
from apps.campaigns.models import Experiment
from apps.reports.campaign import remarks, sentences
from apps.reports.campaign.material import Material
from apps.reports.campaign.single.groups import Group, SingleMeasurement, figures_of, group_of, is_single, parts_of
from apps.reports.claims import words
from apps.reports.columns import NO_INTERVAL, count_columns, ends_of, interval_columns, scale_of
from apps.reports.document import (
    Block,
    Claim,
    Column,
    Figure,
    Paragraph,
    Section,
    Sentence,
    Table,
    Topic,
    Value,
    spaced,
)
from apps.results import charts, doubts, intervals, means
from apps.results.doubts import Mark

# From this ratio of the highest to the lowest figure on, a mean does not tell what was seen.
SCATTERED = 1.5


def sections(material: Material) -> Iterator[tuple[int, Section]]:
    """Yield (number of its first experiment, section) of each campaign's measurements that vary nothing, by tool."""
    groups: dict[tuple[int, str], list[Experiment]] = defaultdict(list)
    for experiment in material.experiments:
        if is_single(material, experiment) and material.metrics[experiment.pk]:
            groups[experiment.campaign_id, experiment.tool].append(experiment)
    experiments = [item.pk for members in groups.values() for item in members]
    metrics = {metric.name for pk in experiments for metric in material.metrics[pk]}
    figures, flagged = figures_of(experiments), doubts.doubts_of(experiments, metrics)
    for members in groups.values():
        number = material.numbers[members[0].pk]
        yield number, _section(material, group_of(material, members, figures, flagged))


def _section(material: Material, group: Group) -> Section:
    first = group.entries[0].experiment
    blocks: list[Block] = []
    if not any(entry.figures for entry in group.entries):
        blocks.append(Paragraph((_("There are no valid figures to draw."),), style="warning"))
    else:
        table = _table(material, group, material.key(first))
        blocks += [_figure(material, group, material.key(first), table), table]
    numbers = sorted(material.numbers[item.experiment.pk] for entry in group.entries for item in parts_of(entry))
    title = material.heading(first)
    if len(numbers) > 1:
        words = {"name": material.in_campaign(group.tool.name, first), "numbers": _numbers(numbers)}
        title = _("%(name)s (experiments %(numbers)s)") % words
    return Section(f"experiment-{material.key(first)}", title, tuple(blocks))


def _numbers(numbers: Sequence[int]) -> str:
    """Return "2–5, 8" of experiments' numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _label(material: Material, group: Group, entry: SingleMeasurement) -> str:
    """Return what a row is called in the figure."""
    if group.both_ways:
        return " – ".join(material.names_of(entry.lane))
    return entry.experiment.name


def _centre(
    group: Group, values: Sequence[float] | None, metric: Metric, evenness: statistics.Evenness
) -> Centre | None:
    if not values:
        return None
    if len(values) == 1:
        return Centre(values[0], None, None)
    return comparison.centre_of(values, Statistic.MEAN, group.mean_of(metric), evenness)


def _of(entry: SingleMeasurement, metric: Metric, *, back: bool) -> list[float] | None:
    figures = entry.of(metric, back=back)
    return figures.values if figures else None


def _figure(material: Material, group: Group, key: str, table: Table) -> Block:
    first = group.metrics[0]
    heads = [head for head in group.heads if head[1].unit == first.unit]
    series = []
    for title, metric, back in heads:
        points = []
        figures = [_of(entry, metric, back=back) for entry in group.entries]
        evenness = statistics.evenness_of(values for values in figures if values)
        for entry, values in zip(group.entries, figures, strict=True):
            if (centre := _centre(group, values, metric, evenness)) and values:
                label = _label(material, group, entry)
                ends = ends_of(centre, metric, values, _ceiling_of(entry, metric) if len(values) > 1 else None)
                point = {"x": label, "y": centre.value, "low": ends.low, "high": ends.high, "n": len(values)}
                points.append(point | ({"note": intervals.cut_note()} if ends.is_cut else {}))
        series.append({"label": title if len(heads) > 1 else "", "points": points})
    label = ", ".join(dict.fromkeys(_(metric.label) for _title, metric, _back in heads))
    ceiling, line = _ceiling(group, first)
    chart: dict[str, object] = {
        "kind": "line",
        "metric": {"name": first.name, "label": label, "unit": first.unit, "log": False},
        "x": {"name": "experiment", "label": _("Measurement"), "unit": "", "numeric": False, "log": False},
        "series": series,
        "lines": line,
    }
    statements = _said(group, heads, ceiling, table)
    name = group.tool.name if len(group.entries) > 1 else group.entries[0].experiment.name
    if max(len(item["points"]) for item in series) < 2 and not group.both_ways:
        return Paragraph(spaced(statements), key=f"statement-{key}", style="statement")
    caption = _("%(name)s: %(metric)s") % {"name": name, "metric": label}
    return Figure(f"figure-{key}-{first.name}", caption, chart, sentences.text_of(statements), says=statements)


def _said(
    group: Group, heads: Sequence[tuple[str, Metric, bool]], ceiling: float | None, table: Table
) -> tuple[Sentence, ...]:
    """Return what the table shows: nothing is set against what was measured between other nodes or elsewhere."""
    ends = tuple(place for place, column in enumerate(table.columns) if column.title in _ends_titles())
    by = (0, 1) if group.both_ways else (0,)
    title = heads[0][0]
    of = next(place for place, column in enumerate(table.columns) if column.title == title)
    if len({tuple(row[place] for place in ends) for row in table.rows}) > 1:
        return (words.sentence(Claim(words.UNLIKE, Topic(table.key, of=of, by=ends))),)
    statements: list[Sentence] = []
    for title, metric, _back in heads:
        of = next(place for place, column in enumerate(table.columns) if column.title == title)
        better = {True: "higher", False: "lower", None: ""}[metric.higher_is_better]
        topic = Topic(table.key, of=of, by=by, unit=metric.unit, metric=title, better=better)
        ceiling_drawn = ceiling if len(heads) == 1 else None
        statements += sentences.of(
            sentences.FigureTopic(topic, [sentences.FigureLine("")], ceiling=ceiling_drawn), table
        )
    return tuple(statements)


def _ends_titles() -> tuple[str, ...]:
    """Return the titles of the columns that say between which nodes and on what was measured."""
    return _("First end"), _("Second end"), _("Nodes"), _("File system")


def _ceiling(group: Group, metric: Metric) -> tuple[float | None, list[dict[str, object]]]:
    """Return the ceiling that all paths share, with its line; (None, []) where they differ or it is unknown."""
    bits = charts.RATE_BITS.get(metric.unit)
    theories = {part.theory for entry in group.entries for part in parts_of(entry)} if bits else set()
    theory = next(iter(theories)) if len(theories) == 1 else None
    if not bits or theory is None or not theory.ceiling_bps:
        return None, []
    ceiling = theory.ceiling_bps / bits
    return ceiling, [{"axis": "y", "value": ceiling, "label": _("Ceiling of the path")}]


def _ceiling_of(entry: SingleMeasurement, metric: Metric) -> float | None:
    """Return what no figure of an entry exceeds, either way."""
    return charts.ceiling_of(metric.unit, entry.theory) if metric.unit in charts.RATE_BITS else None


def _table(material: Material, group: Group, key: str) -> Table:
    columns = [Column(_("First end")), Column(_("Second end"))] if group.both_ways else []
    systems = any(entry.experiment.file_system for entry in group.entries)
    if not group.both_ways:
        columns = [Column(_("Experiment")), Column(_("Nodes"))]
        columns += [Column(_("File system"))] if systems else []
    rows: list[list[Value]] = []
    for entry in group.entries:
        ends = material.in_order(entry.lane)
        cells: list[Value] = (
            list(ends) if group.both_ways else [entry.experiment.name, material.told_in_order(entry.lane)]
        )
        if systems and not group.both_ways:
            cells.append(entry.experiment.file_system.name if entry.experiment.file_system else "")
        rows.append(cells)
    counts = [
        [len(_of(entry, metric, back=back) or ()) for entry in group.entries] for _title, metric, back in group.heads
    ]
    count_parts = count_columns([title for title, _metric, _back in group.heads], counts)
    behind: dict[str, list[list[float]]] = {}
    cut: list[list[str]] = [[] for _entry in group.entries]
    for number, (title, metric, back) in enumerate(group.heads):
        if number < len(count_parts):
            columns.append(count_parts[number][0])
            _extend(rows, count_parts[number][1])
        place = len(columns)
        behind[str(place)], is_cut = _add(group, title, metric, columns, rows, back=back)
        for of_row in (own for own, is_own in zip(cut, is_cut, strict=True) if is_own):
            of_row.append(title)
    remarks.add_to(columns, rows, [_marks(group, entry) for entry in group.entries], cut)
    note = remarks.note_of(_note(group), cut)
    return Table(f"table-{key}", group.tool.name, tuple(columns), rows, figures=behind, note=note)


def _note(group: Group) -> str:
    """Return which means the table has and why, for each metric where they differ; "" if each has one figure."""
    repeated = {title for title, metric, back in group.heads if _is_repeated(group, metric, back=back)}
    kinds = {metric.name: group.mean_of(metric) for title, metric, _back in group.heads if title in repeated}
    texts = {kind: f"{means.label_of(kind)} – {_(statistics.why_mean(kind))}" for kind in kinds.values()}
    if len(texts) <= 1:
        return next(iter(texts.values()), "")
    labels = {metric.name: _(metric.label) for metric in group.metrics}
    return " ".join(f"{labels[name]}: {texts[kind]}" for name, kind in kinds.items())


def _is_repeated(group: Group, metric: Metric, *, back: bool) -> bool:
    return any(len(_of(entry, metric, back=back) or ()) > 1 for entry in group.entries)


def _marks(group: Group, entry: SingleMeasurement) -> dict[str, Mark | None]:
    """Return the flags of an entry's figures by the titles of their columns."""
    return {
        title: group.doubts.about(figures.trials, metric.name) if (figures := entry.of(metric, back=back)) else None
        for title, metric, back in group.heads
    }


def _add(
    group: Group, title: str, metric: Metric, columns: list[Column], rows: list[list[Value]], *, back: bool
) -> tuple[list[list[float]], list[bool]]:
    """Add a metric's columns: the mean, where any has one its interval, and the extremes where figures scatter.

    Returns the figures of each row, and whether its interval is cut.
    """
    figures = [_of(entry, metric, back=back) for entry in group.entries]
    evenness = statistics.evenness_of(values for values in figures if values)
    centres = [_centre(group, values, metric, evenness) for values in figures]
    scale = scale_of([value for values in figures for value in values or ()], metric.unit)
    columns.append(Column(title, scale.unit, "number"))
    _extend(rows, [scale.of(centre.value) if centre else None for centre in centres])
    spans = [
        ends_of(centre, metric, values, _ceiling_of(entry, metric)) if values and len(values) > 1 else NO_INTERVAL
        for entry, centre, values in zip(group.entries, centres, figures, strict=True)
    ]
    if any(span.low is not None for span in spans):
        columns += interval_columns(title, scale)
        _extend(rows, [scale.of(span.low) for span in spans])
        _extend(rows, [scale.of(span.high) for span in spans])
    if any(values and min(values) > 0 and max(values) >= SCATTERED * min(values) for values in figures):
        ends = (_("%(metric)s, min") % {"metric": title}, _("%(metric)s, max") % {"metric": title})
        columns += [Column(end, scale.unit, "number") for end in ends]
        _extend(rows, [scale.of(min(values)) if values else None for values in figures])
        _extend(rows, [scale.of(max(values)) if values else None for values in figures])
    behind = [[scale.of(value) or 0.0 for value in values or ()] for values in figures]
    return behind, [span.is_cut for span in spans]


def _extend(rows: list[list[Value]], values: Sequence[Value]) -> None:
    for row, value in zip(rows, values, strict=True):
        row.append(value)
