"""The best and the latest figure of each pair of sites, of each site and file system, against the ceiling."""

from collections import defaultdict
from collections.abc import Sequence

from django.utils.translation import gettext as _

from apps.reports.campaign import sentences
from apps.reports.claims import several, topics, words
from apps.reports.columns import scale_of
from apps.reports.document import Block, Column, Figure, Paragraph, Section, Sentence, Table, TextLink, Topic, Value
from apps.reports.overview import figures
from apps.reports.overview.figures import Figures, PairStanding

# So many pairs can be told apart in a figure.
MOST_SHOWN = 40
# The column of the best figure, behind the two of the place.
BEST = 2
# Longer tables show their first rows.
MOST_ROWS = 300


def section(report_figures: Figures) -> Section:
    """Return a table, and of rates a figure, of each tool between sites; and tables of each within sites.

    A file system that another site serves is not within the site that measured it.
    """
    between = _by_tool(report_figures.between_sites)
    within = _by_tool(report_figures.within_sites)
    parts = [_between(report_figures, members) for members in between] + [
        _within(report_figures, members) for members in within
    ]
    parts += [_elsewhere(report_figures, members) for members in _by_tool(report_figures.from_elsewhere)]
    blocks: list[Block] = []
    if not parts:
        blocks.append(Paragraph((_("No valid figure was measured in the period."),)))
    return Section("standings", _("Best and latest figures"), tuple(blocks), tuple(parts))


def _by_tool(members: Sequence[PairStanding]) -> list[list[PairStanding]]:
    grouped: dict[str, list[PairStanding]] = defaultdict(list)
    for item in members:
        grouped[item.tool.slug].append(item)
    return [grouped[slug] for slug in sorted(grouped)]


def _between(report_figures: Figures, members: list[PairStanding]) -> Section:
    tool, metric = members[0].tool, members[0].metric
    words_of_tool = {"tool": tool.name, "metric": _(metric.label)}
    key = f"pairs-{tool.slug}"
    places = (Column(_("From")), Column(_("To")))
    table = _table(report_figures, key, _("%(tool)s: %(metric)s between sites") % words_of_tool, places, members)
    blocks: list[Block] = [table]
    if metric.unit in ("bit/s", "B/s") and len(members) > 1:
        blocks.append(
            _figure(f"figure-{key}", _("%(tool)s: best and latest %(metric)s") % words_of_tool, members, table)
        )
    return Section(key, _("%(tool)s between sites") % words_of_tool, tuple(blocks))


def _within(report_figures: Figures, members: list[PairStanding]) -> Section:
    titles = _("%(tool)s within sites"), _("%(tool)s: %(metric)s within sites")
    return _of_sites(report_figures, members, "within", (_("Site"), _("File system")), titles)


def _elsewhere(report_figures: Figures, members: list[PairStanding]) -> Section:
    titles = (
        _("%(tool)s on file systems of other sites"),
        _("%(tool)s: %(metric)s on file systems of other sites"),
    )
    return _of_sites(report_figures, members, "elsewhere", (_("Clients at"), _("File system (served at)")), titles)


def _of_sites(
    report_figures: Figures, members: list[PairStanding], kind: str, places: tuple[str, str], titles: tuple[str, str]
) -> Section:
    """Return the section of what was measured at sites; `titles` are its own and its table's."""
    tool, metric = members[0].tool, members[0].metric
    words_of_tool = {"tool": tool.name, "metric": _(metric.label)}
    key = f"{kind}-{tool.slug}"
    title, caption = (text % words_of_tool for text in titles)
    table = _table(report_figures, key, caption, tuple(Column(place) for place in places), members)
    return Section(key, title, (table,))


def _table(
    report_figures: Figures, key: str, caption: str, places: tuple[Column, ...], members: list[PairStanding]
) -> Table:
    unit = members[0].metric.unit
    scale = scale_of([value for item in members for value in (item.best.value, item.ceiling)], unit)
    with_ceiling = any(item.ceiling for item in members)
    columns = [
        *places,
        Column(_("Best"), scale.unit, "number"),
        Column(_("n"), kind="number"),
        Column(_("Best measured")),
        Column(_("Campaign")),
        Column(_("Latest"), scale.unit, "number"),
        Column(_("Latest measured")),
    ]
    if with_ceiling:
        columns += [Column(_("Ceiling"), scale.unit, "number"), Column(_("Best of ceiling"), "%", "number", 3)]
    rows: list[list[Value | TextLink]] = []
    for item in members[:MOST_ROWS]:
        row: list[Value | TextLink] = [
            *(place or None for place in item.places),
            scale.of(item.best.value),
            item.best.n,
            report_figures.scope.period.day(item.best.at),
            _campaign(report_figures, item.best),
            scale.of(item.latest.value),
            report_figures.scope.period.day(item.latest.at),
        ]
        if with_ceiling:
            share = None if item.share is None else float(f"{100 * item.share:.6g}")
            row += [scale.of(item.ceiling), share]
        rows.append(row)
    return Table(key, caption, tuple(columns), rows, total=len(members) if len(members) > MOST_ROWS else 0)


def _campaign(report_figures: Figures, figure: figures.LaneFigure) -> TextLink:
    campaign = report_figures.scope.campaign_of(figure.lane)
    return TextLink(campaign.name, f"campaign:{campaign.permanent_id}")


def _figure(key: str, caption: str, members: list[PairStanding], table: Table) -> Figure:
    bars = members[:MOST_SHOWN]
    metric = members[0].metric
    curves: list[tuple[str, list[float | None]]] = [
        (_("best"), [item.best.value for item in bars]),
        (_("latest"), [item.latest.value for item in bars]),
        (_("ceiling"), [item.ceiling for item in bars]),
    ]
    chart: dict[str, object] = {
        "kind": "line",
        "metric": {"name": metric.name, "label": _(metric.label), "unit": metric.unit},
        "x": {"name": "pair", "label": _("Sites"), "unit": "", "numeric": False, "log": False},
        "series": [
            {
                "label": label,
                "points": [
                    {"x": " → ".join(item.places), "y": value}
                    for item, value in zip(bars, values, strict=True)
                    if value is not None
                ],
            }
            for label, values in curves
            if any(value is not None for value in values)
        ],
        "lines": [],
    }
    statements = _said(members, table)
    return Figure(key, caption, chart, sentences.text_of(statements), says=statements)


def _said(members: list[PairStanding], table: Table) -> tuple[Sentence, ...]:
    """Return which pair comes nearest to its ceiling and which is farthest from it; nothing where rows are cut."""
    if table.total:
        return ()
    share = next((place for place, column in enumerate(table.columns) if column.unit == "%"), 0)
    topic = Topic(table.key, of=BEST, by=(0, 1), unit=members[0].metric.unit)
    places = topics.places_of(topic, table)
    shares = several.shares_of(places, share) if share else {}
    return tuple(words.sentence(claim) for claim in several.pairs(topic, places, share, shares))
