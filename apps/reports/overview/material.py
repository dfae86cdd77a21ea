"""All that a management report is made of."""

from dataclasses import dataclass

from apps.accounts.models import Team
from apps.bench.text import Message
from apps.campaigns import references
from apps.campaigns.models import Campaign
from apps.reports.overview import activity, changes, conclusions, figures, scope
from apps.reports.overview.activity import Activity
from apps.reports.overview.changes import Changes
from apps.reports.overview.conclusions import Conclusions
from apps.reports.overview.figures import Figures
from apps.reports.overview.scope import Scope
from apps.reports.overview.selection import Period, Selection
from apps.tuning import queries as findings
from apps.tuning import untold
from apps.tuning.analysis import queries as analyses
from apps.tuning.analysis.queries import Standing

# So many imported campaigns are asked whether rules could look at them.
MOST_SILENT = 20


@dataclass(frozen=True)
class OverviewMaterial:
    """What was looked at, done, measured and concluded; `refs` are the references of the findings that are named.

    `unfinished` are the analyses of campaigns that have ended which wait or failed; `silent` says of which of
    the first imported ones rules found nothing since what they read is not known.
    """

    scope: Scope
    activity: Activity
    figures: Figures
    changes: Changes
    conclusions: Conclusions
    refs: dict[int, str]
    unfinished: list[Standing]
    silent: list[tuple[Campaign, Message]]


def unfinished_of(looked_at: Scope) -> list[Standing]:
    """Return the analyses that wait or failed, of the campaigns of a scope that have ended."""
    measured = {lane.campaign for lane in looked_at.lanes.values()}
    standings = analyses.standings_of(campaign for pk, campaign in looked_at.campaigns.items() if pk in measured)
    return [item for item in standings.values() if item.state in (analyses.PENDING, analyses.FAILED)]


def read(team: Team, selection: Selection, period: Period) -> OverviewMaterial:
    """Return the material; the number of queries does not grow with what was measured."""
    report_scope = scope.read(team, selection, period)
    concluded = conclusions.read(report_scope)
    findings_listed = [*concluded.open, *concluded.accepted, *(item.finding for item in concluded.verified)]
    findings.attach_flags(findings_listed)
    done = activity.read(report_scope)
    return OverviewMaterial(
        scope=report_scope,
        activity=done,
        figures=figures.read(report_scope),
        changes=changes.read(report_scope, done),
        conclusions=concluded,
        refs={finding.pk: references.reference(finding) for finding in findings_listed},
        unfinished=unfinished_of(report_scope),
        silent=_silent(report_scope, concluded),
    )


def _silent(looked_at: Scope, concluded: Conclusions) -> list[tuple[Campaign, Message]]:
    """Return of which of the first imported campaigns rules had nothing to look at, where nothing is recommended."""
    if concluded.states.total() or concluded.verified:
        return []
    measured = {lane.campaign for lane in looked_at.lanes.values()}
    imported = [
        campaign
        for pk, campaign in looked_at.campaigns.items()
        if pk in measured and campaign.origin == Campaign.Origin.IMPORTED
    ]
    return untold.silent_among(imported[:MOST_SILENT])
