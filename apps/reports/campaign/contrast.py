"""The campaign beside a baseline: each experiment against the one of the same name and tool there."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from apps.bench import statistics
from apps.bench.comparison import Remark, RemarkLevel, centre_of
from apps.bench.comparison import contrast as contrast_of
from apps.campaigns.models import Campaign, Experiment
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.presentation import charts
from apps.comparison.comparisons.presentation.tables import verdict_text
from apps.comparison.comparisons.sets import ResultSet
from apps.comparison.comparisons.state import ComparisonState
from apps.core import messages
from apps.reports.campaign import points, remarks, sentences, swept
from apps.reports.campaign.material import Material
from apps.reports.claims import overall, words
from apps.reports.columns import count_columns, scale_of, told_interval_columns
from apps.reports.document import (
    Block,
    Column,
    Figure,
    Paragraph,
    Section,
    Table,
    TextLink,
    Topic,
    Value,
    others_read,
    spaced,
)

# A table of the report has so many places; the comparison's page has all.
MOST_ROWS = 300


def section(material: Material) -> Section | None:
    """Return the section that compares with the baseline, None without one."""
    base = material.baseline
    if base is None:
        return None
    earlier = {(item.name, item.tool): item for item in base.experiments.all()}
    pairs = [
        (earlier[item.name, item.tool], item)
        for item in material.experiments
        if item.campaign_id == material.main.pk and (item.name, item.tool) in earlier
    ]
    link = TextLink(base.name, f"campaign:{base.permanent_id}")
    blocks: list[Block] = [Paragraph((_("Each experiment against the one of the same name in "), link, "."))]
    if not pairs:
        text = _("No experiment there has the same name and tool as one here.")
        blocks.append(Paragraph((text,), style="warning"))
    parts = [_pair(material, before, after) for before, after in pairs if material.metrics[after.pk]]
    return Section("baseline", _("Compared with a baseline"), tuple(blocks), tuple(parts))


def _pair(material: Material, before: Experiment, after: Experiment) -> Section:
    key = material.key(after)
    metric = material.metrics[after.pk][0]
    sets = tuple(
        ResultSet(numbers=(("experiment", item.pk),), label=label)
        for item, label in zip((before, after), _labels(before.campaign, after.campaign), strict=True)
    )
    state = ComparisonState(sets=sets, metric=metric.name)
    comparison = swept.told_apart(state, material.user, material.main.team)
    blocks = others_read(_cautions(comparison.remarks), _cautions(comparison.remarks_for_others))
    if comparison.cells and comparison.metric:
        drawn = charts.charts_of(comparison)
        caption = _("%(name)s: %(metric)s beside the baseline") % {"name": after.name, "metric": _(metric.label)}
        table, topic = _table(comparison, key, after)
        statements = () if table.total else tuple(words.sentence(claim) for claim in overall.tell(topic, table))
        if drawn and not comparison.averaged:
            blocks.append(
                Figure(f"baseline-figure-{key}", caption, drawn[0][1], sentences.text_of(statements), says=statements)
            )
        elif statements:
            blocks.append(Paragraph(spaced(statements), key=f"baseline-statement-{key}", style="statement"))
        blocks.append(table)
    return Section(f"baseline-{key}", after.name, tuple(blocks))


def _cautions(remarks: Sequence[Remark]) -> list[Block]:
    return [
        Paragraph(
            (messages.render(remark.message),), style="warning" if remark.level is RemarkLevel.REFUSAL else "remark"
        )
        for remark in remarks
        if remark.level is not RemarkLevel.NOTE
    ]


def _labels(before: Campaign, after: Campaign) -> tuple[str, str]:
    """Return what the two are called; those of one name are told apart."""
    if before.name != after.name:
        return before.name, after.name
    return _("%(name)s (baseline)") % {"name": before.name}, after.name


def _table(comparison: Comparison, key: str, after: Experiment) -> tuple[Table, Topic]:
    """Return every setting that both have with baseline, campaign and ratio; and the topic of these columns."""
    assert comparison.metric
    varied = [factor for factor in comparison.factors if factor.is_parameter]
    before, later = (points.by_setting(comparison, place, varied) for place in (0, 1))
    both = sorted(
        (setting for setting in before if setting in later),
        key=lambda setting: [factor.place(value) for factor, value in zip(varied, setting, strict=True)],
    )
    settings = both[:MOST_ROWS]
    centres = [
        [centre_of(figures[setting], comparison.state.statistic, comparison.mean).value for setting in settings]
        for figures in (before, later)
    ]
    scale = scale_of([value for column in centres for value in column], comparison.unit)
    contrasts = contrast_of([(before[setting], later[setting]) for setting in settings])
    count_parts = count_columns(
        comparison.titles, [[len(side[setting]) for setting in settings] for side in (before, later)]
    )
    columns = [
        *(Column(factor.label) for factor in varied),
        *(Column(title, scale.unit, "number") for title in comparison.titles),
        *(column for column, _counts in count_parts),
        Column(_("Ratio"), kind="number"),
        *told_interval_columns(_("Ratio"), scale_of((), "1")),
        Column(_("Verdict")),
    ]
    rows: list[list[Value]] = []
    for number, (setting, contrast) in enumerate(zip(settings, contrasts, strict=True)):
        ratio = contrast.difference
        rows.append(
            [
                *(factor.text(value) for factor, value in zip(varied, setting, strict=True)),
                *(scale.of(column[number]) for column in centres),
                *(counts[number] for _column, counts in count_parts),
                ratio.ratio,
                ratio.ratio_low,
                ratio.ratio_high,
                float(statistics.percent_of(ratio.confidence)) if ratio.ratio_low and ratio.confidence else None,
                verdict_text(contrast.verdict),
            ]
        )
    marks = [points.marks_of(comparison, place, varied) for place in (0, 1)]
    remarks.add_to(
        columns,
        rows,
        [dict(zip(comparison.titles, (side.get(setting) for side in marks), strict=True)) for setting in settings],
    )
    at = len(varied)
    behind = {
        str(at + place): [[scale.of(value) or 0.0 for value in figures[setting]] for setting in settings]
        for place, figures in enumerate((before, later))
    }
    total = len(both) if len(both) > MOST_ROWS else 0
    table = Table(f"baseline-table-{key}", after.name, tuple(columns), rows, total=total, figures=behind)
    of = at + 2 + len(count_parts)
    return table, Topic(table.key, of=of, by=(at, at + 1), metric=_(comparison.metric.label))
