"""The document of a management report, its summary of one page first."""

from collections.abc import Callable
from datetime import datetime

from django.utils import translation
from django.utils.translation import gettext as _

from apps.accounts.models import Team
from apps.reports.document import Document, Paragraph, Section
from apps.reports.overview import outcomes, standings, summary, work
from apps.reports.overview.material import OverviewMaterial
from apps.reports.overview.material import read as read_material
from apps.reports.overview.scope import Scope
from apps.reports.overview.selection import Period, Selection
from apps.reports.parts import Parts


def build(
    *, team: Team, selection: Selection, language: str, now: datetime, title: str = "", is_strict: bool = False
) -> Document:
    """Return the report of what a team measured in the selection's period as it is at `now`.

    A section that cannot be computed says so, and the others stand; with `is_strict` that is a ConflictError.
    """
    with translation.override(language):
        material = read_material(team, selection, selection.period_at(now))
        one_by_one = Parts(is_strict=is_strict)
        return Document(
            kind="management",
            title=title or _("Measurements of %(team)s") % {"team": team.name},
            subtitle=_("Management report, %(period)s") % {"period": material.scope.period.text},
            language=language,
            sections=_sections(material, one_by_one)
            if material.activity.lanes
            else (_nothing(material.scope.period),),
            meta=_meta(material.scope, now),
            rests_on=_rests_on(material),
            summary=summary.blocks(material) if material.activity.lanes else (),
        )


def _sections(material: OverviewMaterial, one_by_one: Parts) -> tuple[Section, ...]:
    makers: tuple[tuple[str, str, Callable[[], Section]], ...] = (
        ("measured", _("What was measured"), lambda: work.measured(material)),
        ("usage", _("Use of the testbeds"), lambda: work.usage(material)),
        ("standings", _("Best and latest figures"), lambda: standings.section(material.figures)),
        ("changes", _("Changes of level"), lambda: outcomes.changes(material)),
        ("findings", _("Findings"), lambda: outcomes.findings(material)),
        ("campaigns", _("The campaigns"), lambda: work.campaigns(material)),
        ("method", _("How it was counted"), lambda: _method(material)),
    )
    sections = [one_by_one.section(key, title, make) for key, title, make in makers]
    return tuple(section for section in sections if section)


def _meta(report_scope: Scope, now: datetime) -> tuple[tuple[str, str], ...]:
    """Return the lines of the title page."""
    sites = ", ".join(site.name for site in report_scope.sites) or _("all")
    zone = report_scope.period.zone
    as_of = min(now, report_scope.period.end).astimezone(zone)
    return (
        (_("Team"), report_scope.team.name),
        (_("Period"), f"{report_scope.period.text} ({zone.key})"),
        (_("Sites"), sites),
        (_("As of"), f"{as_of:%Y-%m-%d %H:%M}"),
    )


def _rests_on(material: OverviewMaterial) -> tuple[str, ...]:
    """Return the references of all that the report was made from, each once."""
    active = {lane.campaign for lane in material.activity.active()}
    ids = sorted(material.scope.campaigns[pk].permanent_id for pk in active)
    verified = sorted(item.of_campaign for item in material.conclusions.verified if item.of_campaign)
    refs = [f"campaign:{permanent_id}" for permanent_id in (*ids, *verified)]
    return tuple(dict.fromkeys([*refs, *sorted(material.refs.values())]))


def _nothing(period: Period) -> Section:
    text = _(
        "No measurement ended from %(period)s at the chosen sites. Choose a longer period or other sites, or launch"
        " a campaign."
    )
    return Section(
        "nothing", _("Nothing was measured"), (Paragraph((text % {"period": period.text},), key="nothing"),)
    )


def _method(material: OverviewMaterial) -> Section:
    """Return how the figures were counted, so that nobody has to guess."""
    lines = [
        _(
            "Counted are trials that ended in the period, of all campaigns that every member of the team sees;"
            " warm-ups and published figures are not. A trial is measured if its output was read without a fault."
        ),
        _(
            "Node-hours are the time of all attempts, faults and warm-ups included, times the nodes that took part."
            " What was measured elsewhere and imported costs none."
        ),
        _(
            "Data moved is the measured rate over the time that was asked for, or what the tool itself counted, of"
            " valid results; of other tools it is not known, and the sum is at least so much."
        ),
        _(
            "Figures are means over valid samples at the best point of an experiment. The ceiling is what TCP or UDP"
            " can have at most of the path's capacity in the inventory."
        ),
        _(
            "A change of level is one of the campaigns' medians that chance makes in no more than one history of 500,"
            " if the medians scatter about their level independently of each other: where each is much like the one"
            " before, or goes in slow waves, chance makes more. It takes four campaigns on either side. Medians that"
            " go steadily up or down are told as a trend."
        ),
        _("Gains are ratios of the figures after and before, with intervals of 95 %."),
    ]
    return Section("method", _("How it was counted"), tuple(Paragraph((line,)) for line in lines))
