"""What changed and what was concluded: regressions, findings open and accepted, and gains that were realised."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bench.text import Message
from apps.bench.toolkit import goes_back
from apps.bench.toolkit.ways import in_order
from apps.campaigns.models import Campaign
from apps.core import messages
from apps.reports.claims import counted, titles
from apps.reports.columns import interval_columns, quantity, scale_of
from apps.reports.document import Block, Column, Paragraph, Part, Section, Table, TextLink, Value
from apps.reports.overview.changes import CampaignChange, Changes
from apps.reports.overview.conclusions import ELSEWHERE
from apps.reports.overview.material import OverviewMaterial
from apps.testbeds import patterns
from apps.tuning.models import Finding

# Of changes so many are listed each way.
MOST_CHANGES = 100

# The tables that sentences quote, and their columns behind the number of a row.
KEY_FIGURES = "key-figures"
REGRESSIONS, VERIFIED, OPEN = "regressions", "verified", "open"
BEFORE, AFTER, REALISED, PREDICTED = 5, 6, 6, 4
# Of both tables of findings: the figures that a title says, which stand behind it.
FIGURES = 2

# So many campaigns are named whose analysis waits or failed.
MOST_UNFINISHED = 20


def changes(material: OverviewMaterial) -> Section:
    """Return the regressions of the period, and what got better."""
    blocks: list[Block] = []
    worse, better = material.changes.of(worse=True), material.changes.of(worse=False)
    if worse:
        blocks.append(_changes(material, REGRESSIONS, _("Regressions"), worse))
    else:
        blocks.append(Paragraph((_no_regression(material.changes),), key="regressions"))
    if better:
        blocks.append(_changes(material, "improvements", _("What got better"), better))
    if material.changes.histories > material.changes.examined:
        words = {"examined": f"{material.changes.examined:,}", "histories": f"{material.changes.histories:,}"}
        text = _("Of %(histories)s histories the %(examined)s that were measured most often were looked at.")
        text_quoted = counted.rows(text % words, KEY_FIGURES, 1, dict(histories_of(material.changes)))
        blocks.append(Paragraph((text_quoted,), style="remark"))
    return Section("changes", _("Changes of level"), tuple(blocks))


def findings(material: OverviewMaterial) -> Section:
    """Return what is recommended, what was accepted, and what verified changes gained."""
    conclusions = material.conclusions
    parts = [
        _verified(material),
        _open(
            material,
            "accepted",
            _("Accepted, not verified yet"),
            conclusions.accepted,
            conclusions.states["accepted"],
        ),
        _open(material, OPEN, _("Open recommendations"), conclusions.open, conclusions.states["new"]),
    ]
    blocks: list[Block] = [*_unfinished(material)]
    if conclusions.states.total():
        blocks.append(_states(material))
    elif not conclusions.verified and material.silent:
        blocks += [Paragraph((_("Whether a change is to be recommended is not known."),), style="warning")]
        blocks += [_of_campaign(campaign, line) for campaign, line in material.silent]
    elif not conclusions.verified and not material.unfinished:
        blocks.append(Paragraph((_("No change is recommended by what was measured."),), key="findings"))
    return Section("findings", _("Findings"), (*blocks, *(part for part in parts if part)))


def _unfinished(material: OverviewMaterial) -> list[Block]:
    """Return of which campaigns an analysis waits or failed, and why."""
    lines = [
        _of_campaign(item.campaign, line) for item in material.unfinished[:MOST_UNFINISHED] for line in item.lines
    ]
    if len(material.unfinished) > MOST_UNFINISHED:
        more = len(material.unfinished) - MOST_UNFINISHED
        text = ngettext("… and %(n)s other campaign.", "… and %(n)s other campaigns.", more) % {"n": more}
        lines.append(Paragraph((text,), style="warning"))
    return [*lines]


def _of_campaign(campaign: Campaign, line: Message) -> Paragraph:
    """Return what is to be said of a campaign, with its name before it."""
    link = TextLink(campaign.name, f"campaign:{campaign.permanent_id}")
    return Paragraph((link, f": {messages.render(line)}"), style="warning")


def place_of(material: OverviewMaterial, change: CampaignChange) -> str:
    """Return "sender → receiver" of what changed."""
    nodes = material.scope.nodes
    cast = ((role.name, change.roles.get(role.name, ())) for role in change.tool.roles)
    names = {role: [nodes[pk].name for pk in members if pk in nodes] for role, members in cast}
    played = {role: patterns.compress_names(members) for role, members in names.items() if members}
    is_back = goes_back(change.tool, change.parameters, change.metric.name)
    return patterns.told_ends(list(played), in_order(played.values(), is_back=is_back))


def percent(change: CampaignChange) -> float:
    """Return by how many per cent the level changed."""
    return float(f"{100 * (change.ratio - 1):.6g}")


def link_of(material: OverviewMaterial, finding: Finding, table: str, number: int) -> TextLink:
    """Return a finding's title, which leads to it; its figures are those of its row in one of the tables."""
    figures = _figures(finding)
    claim = titles.claim_of(table, str(number), {FIGURES: titles.TitleCell(figures)} if figures else {})
    return TextLink(messages.render(finding.title), material.refs[finding.pk], claim)


def campaign_link(material: OverviewMaterial, change: CampaignChange) -> TextLink:
    """Return the campaign that measured the new level first."""
    campaign = material.scope.campaigns[change.campaign]
    return TextLink(campaign.name, f"campaign:{campaign.permanent_id}")


def _changes(material: OverviewMaterial, key: str, caption: str, members: Sequence[CampaignChange]) -> Table:
    columns = (
        Column(_("No."), kind="number"),
        Column(_("Tool")),
        Column(_("Nodes")),
        Column(_("Point")),
        Column(_("Metric")),
        Column(_("Before")),
        Column(_("After")),
        Column(_("Difference"), "%", "number", 3),
        Column(_("Since")),
        Column(_("Measured")),
        Column(_("Verdict")),
        Column(_("Explanation")),
    )
    rows: list[list[Value | TextLink]] = []
    for number, item in enumerate(members[:MOST_CHANGES], start=1):
        decision = item.decision
        rows.append(
            [
                number,
                item.tool.name,
                place_of(material, item),
                _point(item),
                _(item.metric.label),
                quantity(item.before, item.metric.unit),
                quantity(item.after, item.metric.unit),
                percent(item),
                campaign_link(material, item),
                material.scope.period.day(item.at),
                str(decision.get_state_display()) if decision else _("a trend") if item.is_trend else _("found"),
                decision.explanation if decision else "",
            ]
        )
    note = _("Levels are medians of the campaigns before and after; of a trend the ends of the line through them.")
    return Table(key, caption, columns, rows, note=note, total=len(members) if len(members) > MOST_CHANGES else 0)


def _point(change: CampaignChange) -> str:
    if change.points == 1:
        return change.point
    more = ngettext("and %(n)s other point", "and %(n)s other points", change.points - 1) % {"n": change.points - 1}
    return f"{change.point} {more}".strip()


def histories_of(changes_found: Changes) -> list[tuple[str, str]]:
    """Return the key figures of how many histories there are, and of how many were looked at."""
    return [
        (_("Histories"), f"{changes_found.histories:,}"),
        (_("Histories looked at"), f"{changes_found.examined:,}"),
    ]


def _no_regression(changes_found: Changes) -> Part:
    if not changes_found.examined:
        return _("Nothing was measured by enough campaigns to tell a regression: a history needs eight of them.")
    text = ngettext(
        "No regression was found in %(n)s history.",
        "No regression was found in %(n)s histories.",
        changes_found.examined,
    )
    name, examined = histories_of(changes_found)[1]
    return counted.rows(text % {"n": examined}, KEY_FIGURES, 1, {name: examined})


def _states(material: OverviewMaterial) -> Table:
    counts = material.conclusions.states
    rows: list[list[Value | TextLink]] = [[str(state.label), counts[state.value]] for state in Finding.State]
    if counts[ELSEWHERE]:
        rows.append([_("verified or refuted elsewhere"), counts[ELSEWHERE]])
    return Table(
        "states", _("Recommendations by state"), (Column(_("State")), Column(_("Number"), kind="number")), rows
    )


def _verified(material: OverviewMaterial) -> Block | None:
    conclusions = material.conclusions
    if not conclusions.verified:
        return None
    also = _also_column(item.finding for item in conclusions.verified)
    columns = (
        Column(_("No."), kind="number"),
        Column(_("Finding")),
        Column(_("Figures in the title")),
        Column(_("Before")),
        Column(_("After")),
        Column(_("Predicted gain (ratio)"), kind="number", digits=3),
        Column(_("Realised gain (ratio)"), kind="number", digits=3),
        *(replace(column, digits=3) for column in interval_columns(_("Realised gain"), scale_of((), "1"))),
        Column(_("Verified")),
        *also,
    )
    rows: list[list[Value | TextLink]] = [
        [
            number,
            link_of(material, item.finding, VERIFIED, number),
            _figures(item.finding),
            quantity(item.present, item.unit),
            quantity(item.realised, item.unit),
            item.predicted_gain,
            item.gain,
            item.gain_low,
            item.gain_high,
            material.scope.period.day(item.judged_at) if item.judged_at else None,
            *([_also(item.finding)] if also else ()),
        ]
        for number, item in enumerate(conclusions.verified, start=1)
    ]
    total = conclusions.verified_count if conclusions.verified_count > len(rows) else 0
    return Table(VERIFIED, _("Verified in the period, with what was gained"), columns, rows, total=total)


def _open(material: OverviewMaterial, key: str, caption: str, members: Sequence[Finding], total: int) -> Block | None:
    if not members:
        return None
    also = _also_column(members)
    flags = [Column(_("Flags"))] if any(finding.mark for finding in members) else []
    columns = (
        Column(_("No."), kind="number"),
        Column(_("Finding")),
        Column(_("Figures in the title")),
        Column(_("Campaign")),
        Column(_("Predicted gain (ratio)"), kind="number", digits=3),
        Column(_("Confidence"), "%", "number", 3),
        *flags,
        *also,
    )
    rows: list[list[Value | TextLink]] = [
        [
            number,
            link_of(material, item, key, number),
            _figures(item),
            TextLink(item.campaign.name, f"campaign:{item.campaign.permanent_id}"),
            item.predicted_gain,
            float(f"{100 * item.confidence:.6g}"),
            *([item.mark.text if item.mark else None] if flags else ()),
            *([_also(item)] if also else ()),
        ]
        for number, item in enumerate(members, start=1)
    ]
    return Table(key, caption, columns, rows, total=total if total > len(rows) else 0)


def _figures(finding: Finding) -> str | None:
    """Return the figures that a finding's title says, None without any."""
    return titles.BETWEEN.join(titles.figures_of(finding.title)) or None


def _also_column(members: Iterable[Finding]) -> list[Column]:
    """Return the column of what else was proposed for the questions of findings, none where nothing was."""
    return [Column(_("For the same question also"))] if any(_also(finding) for finding in members) else []


def _also(finding: Finding) -> str | None:
    """Return the titles of the parts of a finding, None without any."""
    parts = finding.details.get("parts") or ()
    return "; ".join(messages.render(part["title"]) for part in parts) or None
