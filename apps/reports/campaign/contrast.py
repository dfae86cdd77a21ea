"""The campaign beside a baseline: each experiment against the one of the same name and tool there."""

from django.utils.translation import gettext as _

from apps.bench.comparison import Level
from apps.campaigns.models import Campaign, Experiment
from apps.core import messages
from apps.reports.campaign import swept
from apps.reports.campaign.columns import scale_of
from apps.reports.campaign.material import Material
from apps.reports.document import Block, Column, Figure, Link, Paragraph, Section, Table, Value
from apps.results.comparison import drawing, factors, tables
from apps.results.comparison.building import Comparison
from apps.results.comparison.cells import Cell
from apps.results.comparison.sets import ResultSet
from apps.results.comparison.state import State

# A table of the report has so many places; the comparison's page has all.
MOST_ROWS = 300


def section(made: Material) -> Section | None:
    """Return the section that compares with the baseline, None without one."""
    base = made.baseline
    if base is None:
        return None
    known = {(item.name, item.tool): item for item in base.experiments.all()}
    pairs = [
        (known[item.name, item.tool], item)
        for item in made.experiments
        if item.campaign_id == made.main.pk and (item.name, item.tool) in known
    ]
    words = Link(base.name, f"campaign:{base.permanent_id}")
    blocks: list[Block] = [Paragraph((_("Each experiment against the one of the same name in "), words, "."))]
    if not pairs:
        text = _("No experiment there has the same name and tool as one here.")
        blocks.append(Paragraph((text,), style="warning"))
    parts = [_pair(made, before, after) for before, after in pairs if made.metrics[after.pk]]
    return Section("baseline", _("Compared with a baseline"), tuple(blocks), tuple(parts))


def _pair(made: Material, before: Experiment, after: Experiment) -> Section:
    key = made.key(after)
    metric = made.metrics[after.pk][0]
    sets = tuple(
        ResultSet(numbers=(("experiment", item.pk),), label=label)
        for item, label in zip((before, after), _labels(before.campaign, after.campaign), strict=True)
    )
    found = swept.told_apart(State(sets=sets, metric=metric.name), made.user)
    remarks = [remark for remark in found.remarks if remark.level is not Level.NOTE]
    blocks: list[Block] = [
        Paragraph((messages.render(remark.message),), style="warning" if remark.level is Level.REFUSAL else "remark")
        for remark in remarks
    ]
    if found.cells and found.metric:
        chart = drawing.charts_of(found)
        caption = _("%(name)s: %(metric)s beside the baseline") % {"name": after.name, "metric": _(metric.label)}
        table = _table(found, key, after)
        if chart:
            blocks.append(Figure(f"baseline-figure-{key}", caption, chart[0][1], _sentence(found)))
        blocks.append(table)
    return Section(f"baseline-{key}", after.name, tuple(blocks))


def _labels(before: Campaign, after: Campaign) -> tuple[str, str]:
    """Return what the two are called; those of one name are told apart."""
    if before.name != after.name:
        return before.name, after.name
    return _("%(name)s (baseline)") % {"name": before.name}, after.name


def _sentence(found: Comparison) -> str:
    """Return what is said over all settings that both have."""
    parts = []
    for answer in tables.overall_of(found):
        words = {**answer, "metric": _(found.metric.label) if found.metric else ""}
        text = _("Over all common settings %(metric)s is: %(verdict)s (%(p)s, above in %(share)s of pairs).")
        parts.append(text % words)
        if answer["ratios"]:
            parts.append(_("Place by place the ratio is %(ratios)s.") % words)
    return " ".join(parts)


def _table(found: Comparison, key: str, after: Experiment) -> Table:
    """Return every place with the baseline, the campaign and the ratio with its interval."""
    places: dict[tuple[object, object], dict[int, Cell]] = {}
    on_sets = found.axis.name == factors.SET
    for cell in found.cells:
        places.setdefault((None if on_sets else cell.x, cell.series), {})[cell.set] = cell
    both = [cells for cells in places.values() if len(cells) == 2]
    scale = scale_of([cell.centre.value for cells in both for cell in cells.values()], found.unit)
    columns = [Column(found.axis.label)] if not on_sets else []
    columns += [Column(found.series.label)] if found.series else []
    columns += [
        *(Column(title, scale.unit, "number") for title in found.titles),
        Column(_("Ratio"), kind="number"),
        Column(_("from (95 %)"), kind="number"),
        Column(_("to (95 %)"), kind="number"),
        Column(_("Verdict")),
    ]
    rows: list[list[Value]] = []
    for cells in both[:MOST_ROWS]:
        contrast = cells[1].contrast
        ratio = contrast.difference if contrast else None
        rows.append(
            [
                *([] if on_sets else [found.axis.text(cells[1].x)]),
                *([found.series.text(cells[1].series)] if found.series else []),
                scale.of(cells[0].centre.value),
                scale.of(cells[1].centre.value),
                ratio.ratio if ratio else None,
                ratio.ratio_low if ratio else None,
                ratio.ratio_high if ratio else None,
                tables.verdict_text(contrast.verdict) if contrast else "",
            ]
        )
    total = len(both) if len(both) > MOST_ROWS else 0
    return Table(f"baseline-table-{key}", after.name, tuple(columns), rows, total=total)
