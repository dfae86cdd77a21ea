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


@dataclass(frozen=True)
class Material:
    """What was looked at, done, measured and concluded; `refs` are the references of the findings that are named."""

    scope: Scope
    activity: Activity
    figures: Figures
    changes: Changes
    conclusions: Conclusions
    refs: dict[int, str]


def read(team: Team, selection: Selection, period: Period) -> Material:
    """Return the material; the number of queries does not grow with what was measured."""
    found = scope.read(team, selection, period)
    concluded = conclusions.read(found)
    named = [*concluded.open, *concluded.accepted, *(item.finding for item in concluded.verified)]
    done = activity.read(found)
    return Material(
        scope=found,
        activity=done,
        figures=figures.read(found),
        changes=changes.read(found, done),
        conclusions=concluded,
        refs={finding.pk: references.reference(finding) for finding in named},
    )
