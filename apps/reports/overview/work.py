"""What was measured, how often and with what success; who used which testbed; what it cost."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.campaigns.queries import Progress
from apps.reports.claims import counted
from apps.reports.columns import Scale, quantity, scale_of
from apps.reports.document import Block, Column, Figure, Section, Table, TextLink, Value
from apps.reports.overview.activity import Count, name_of
from apps.reports.overview.material import OverviewMaterial

# Longer lists show their first rows.
MOST_ROWS = 200
HOUR_S = 3600.0
# How trials end.
ENDS = ("measured", "failed", "not_measured")


def measured(material: OverviewMaterial) -> Section:
    """Return what was measured, by tool and by month."""
    counts = material.activity.by(lambda lane: lane.tool)
    amounts = _moved_by_tool(material)
    scale = scale_of(amounts.values(), "B")
    tools = material.scope.tools
    rows: list[list[Value | TextLink]] = []
    for slug, count in sorted(counts.items(), key=lambda pair: (-pair[1].trials, pair[0])):
        name = tools[slug].name if slug in tools else slug
        rows.append([name, len(count.campaigns), *_cells(count), scale.of(amounts.get(slug))])
    columns = (
        Column(_("Tool")),
        Column(_("Campaigns"), kind="number"),
        *_columns(),
        Column(_("Data moved"), scale.unit, "number"),
    )
    blocks: list[Block] = [Table("tools", _("What was measured, by tool"), columns, rows)]
    if len(material.activity.months) > 1:
        blocks.append(_months(material.activity.months))
    return Section("measured", _("What was measured"), tuple(blocks))


def usage(material: OverviewMaterial) -> Section:
    """Return who used which testbed, and for how long."""
    scope = material.scope
    testbeds = {node.testbed_id: node.testbed for node in scope.nodes.values()}
    site_ids = {site.pk for site in scope.sites}
    records = [
        (testbeds[testbed].site.name, testbeds[testbed].name, person, count)
        for (testbed, person), count in material.activity.by_testbed().items()
        if not site_ids or testbeds[testbed].site_id in site_ids
    ]
    rows: list[list[Value | TextLink]] = [
        [testbed, site, person or _("an account that is gone"), len(count.campaigns), *_few_cells(count)]
        for site, testbed, person, count in sorted(records, key=lambda item: (item[:2], -item[3].node_s, item[2]))
    ]
    columns = (
        Column(_("Testbed")),
        Column(_("Site")),
        Column(_("Used by")),
        Column(_("Campaigns"), kind="number"),
        *_few_columns(),
    )
    note = _("A trial between two testbeds counts for both; node-hours are those of the testbed's own nodes.")
    return Section(
        "usage", _("Use of the testbeds"), (_table("usage", _("Who used which testbed"), columns, rows, note),)
    )


def campaigns(material: OverviewMaterial) -> Section:
    """Return every campaign that the report rests on."""
    counts = material.activity.by(lambda lane: lane.campaign)
    ordered = sorted(
        (material.scope.campaigns[pk] for pk in counts),
        key=lambda item: (item.launched_at is None, item.launched_at, item.permanent_id),
    )
    rows: list[list[Value | TextLink]] = [
        [
            TextLink(campaign.name, f"campaign:{campaign.permanent_id}"),
            material.scope.period.day(campaign.launched_at) if campaign.launched_at else None,
            campaign.origin_text,
            name_of(campaign) or _("an account that is gone"),
            *_few_cells(counts[campaign.pk]),
        ]
        for campaign in ordered
    ]
    columns = (
        Column(_("Campaign")),
        Column(_("Launched")),
        Column(_("Origin")),
        Column(_("Made by")),
        *_few_columns(),
    )
    title = _("The campaigns")
    return Section("campaigns", title, (_table("campaigns", title, columns, rows),))


def moved_of(material: OverviewMaterial) -> float | None:
    """Return how many bytes were moved as far as that is known, None if it is of nothing."""
    return sum(material.figures.moved.values()) if material.figures.moved else None


def moved_text(material: OverviewMaterial) -> str:
    """Return how many bytes were moved, "at least" so many where some valid results do not tell."""
    amount = quantity(moved_of(material), "B")
    amounts = material.figures.moved
    is_all = all(pk in amounts for pk, count in material.activity.lanes.items() if count.progress.measured)
    return amount if is_all or not amounts else _("at least %(size)s") % {"size": amount}


def _moved_by_tool(material: OverviewMaterial) -> dict[str, float]:
    amounts: dict[str, float] = defaultdict(float)
    for lane in material.scope.within(material.figures.moved):
        amounts[lane.tool] += material.figures.moved[lane.pk]
    return dict(amounts)


def _columns() -> tuple[Column, ...]:
    """Return the columns of a count; `_cells` fills them."""
    return (
        Column(_("Trials"), kind="number", digits=12),
        Column(pgettext("trials", "Measured"), kind="number", digits=12),
        Column(_("Failed"), kind="number", digits=12),
        Column(_("Not measured"), kind="number", digits=12),
        Column(_("Set aside"), kind="number", digits=12),
        Column(_("Success"), "%", "number", 3),
        Column(_("Node-hours"), "h", "number", 3),
    )


def _cells(count: Count) -> tuple[Value, ...]:
    ends = [getattr(count.progress, name) for name in ENDS]
    success = None if count.success is None else 100 * count.success
    return (count.trials, *ends, count.progress.set_aside, _rounded(success), round(count.node_s / HOUR_S, 4))


def _few_columns() -> tuple[Column, ...]:
    """Return the columns of a count where there is room for few; `_few_cells` fills them."""
    _trials, *ends, _set_aside, success, hours = _columns()
    return (*ends, success, hours)


def _few_cells(count: Count) -> tuple[Value, ...]:
    _trials, *ends, _set_aside, success, hours = _cells(count)
    return (*ends, success, hours)


def _rounded(value: float | None) -> float | None:
    return Scale("", 1.0).of(value)


def _table(
    key: str, caption: str, columns: Iterable[Column], rows: list[list[Value | TextLink]], note: str = ""
) -> Table:
    """Return a table of the first rows of a list that may be long."""
    total = len(rows) if len(rows) > MOST_ROWS else 0
    return Table(key, caption, tuple(columns), rows[:MOST_ROWS], note=note, total=total)


def _months(months: dict[date, Count]) -> Figure:
    """Return the trials of each month, by their end."""
    ordered = sorted(months)
    names = {"measured": pgettext("trial", "measured"), "failed": _("failed"), "not_measured": _("not measured")}
    total = sum((months[month].progress for month in ordered), Progress())
    ends = [name for name in ENDS if getattr(total, name)]
    chart: dict[str, object] = {
        "kind": "line",
        "metric": {"name": "trials", "label": _("Trials"), "unit": ""},
        "x": {"name": "month", "label": _("Month"), "unit": "", "numeric": False, "log": False},
        "series": [
            {
                "label": names[name],
                "points": [{"x": f"{month:%Y-%m}", "y": getattr(months[month].progress, name)} for month in ordered],
            }
            for name in ends
        ],
        "lines": [],
    }
    rows = [[f"{month:%Y-%m}", len(months[month].campaigns), *_cells(months[month])[:-1]] for month in ordered]
    columns = (Column(_("Month")), Column(_("Campaigns"), kind="number"), *_columns()[:-1])
    busiest = max(ordered, key=lambda month: (months[month].trials, month))
    words = {"month": f"{busiest:%Y-%m}", "count": f"{months[busiest].trials:,}"}
    text = _("Most was measured in %(month)s: %(count)s trials.") % words
    sentence = counted.most(text, "months", 2, words["month"], words["count"])
    data = Table("months", _("Trials by month"), columns, rows)
    return Figure("months", _("Trials by month"), chart, sentence.text, data, says=(sentence,))
