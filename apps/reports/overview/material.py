"""All that a management report is made of."""

from dataclasses import dataclass

from apps.accounts.models import Team
from apps.campaigns import references
from apps.reports.overview import activity, changes, conclusions, figures, scope
from apps.reports.overview.activity import Activity
from apps.reports.overview.changes import Changes
from apps.reports.overview.conclusions import Conclusions
from apps.reports.overview.figures import Figures
from apps.reports.overview.scope import Scope
from apps.reports.overview.selection import Period, Selection
from apps.tuning import queries as findings
from apps.tuning.analysis import queries as analyses
from apps.tuning.analysis.queries import Standing


@dataclass(frozen=True)
class Material:
    """What was looked at, done, measured and concluded; `refs` are the references of the findings that are named.

    `unfinished` are the analyses of campaigns that have ended which wait or failed.
    """

    scope: Scope
    activity: Activity
    figures: Figures
    changes: Changes
    conclusions: Conclusions
    refs: dict[int, str]
    unfinished: list[Standing]


def unfinished_of(looked_at: Scope) -> list[Standing]:
    """Return the analyses that wait or failed, of the campaigns of a scope that have ended."""
    measured = {lane.campaign for lane in looked_at.lanes.values()}
    found = analyses.standings_of(campaign for pk, campaign in looked_at.campaigns.items() if pk in measured)
    return [item for item in found.values() if item.state in (analyses.PENDING, analyses.FAILED)]


def read(team: Team, selection: Selection, period: Period) -> Material:
    """Return the material; the number of queries does not grow with what was measured."""
    found = scope.read(team, selection, period)
    concluded = conclusions.read(found)
    named = [*concluded.open, *concluded.accepted, *(item.finding for item in concluded.verified)]
    findings.attach_flags(named)
    done = activity.read(found)
    return Material(
        scope=found,
        activity=done,
        figures=figures.read(found),
        changes=changes.read(found, done),
        conclusions=concluded,
        refs={finding.pk: references.reference(finding) for finding in named},
        unfinished=unfinished_of(found),
    )
