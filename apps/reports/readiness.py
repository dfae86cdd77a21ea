"""Whether a report may be frozen: not while conclusions are still to be drawn from what it tells of."""

from datetime import datetime

from apps.accounts.models import User
from apps.bench.text import Message, _
from apps.core.errors import ConflictError
from apps.reports import drafts
from apps.reports.models import Report
from apps.reports.overview import material, scope
from apps.reports.overview.selection import Selection
from apps.tuning.analysis import queries as analyses
from apps.tuning.analysis.queries import Standing


def unfinished_of(report: Report, user: User, now: datetime) -> list[Standing]:
    """Return the analyses that wait or failed, of the campaigns that a report tells of.

    A campaign that goes on keeps its own report waiting; a management report tells of what has ended.
    """
    if report.kind == Report.Kind.MANAGEMENT:
        selection = Selection.of(report.selection)
        return material.unfinished_of(scope.read(report.team, selection, selection.period_at(now)))
    standings = analyses.standings_of(drafts.campaigns_of(report, user))
    return [item for item in standings.values() if not item.is_done]


def require_concluded(report: Report, user: User, now: datetime) -> None:
    """Raise a conflict that names the first campaign whose analysis waits or failed, why, and what helps."""
    standings = unfinished_of(report, user, now)
    if standings:
        first = standings[0]
        text = _("No edition can be frozen now. %(campaign)s: %(why)s %(remedy)s")
        words = {"campaign": first.campaign.name, "why": first.lines[0].as_json()}
        raise ConflictError(Message(text, {**words, "remedy": first.remedy.as_json() if first.remedy else ""}))
