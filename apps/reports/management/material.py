"""All that a management report is made of."""

from dataclasses import dataclass

from apps.accounts.models import Team
from apps.campaigns import references
from apps.reports.management import activity, changes, conclusions, figures, scope
from apps.reports.management.activity import Activity
from apps.reports.management.changes import Changes
from apps.reports.management.conclusions import Conclusions
from apps.reports.management.figures import Figures
from apps.reports.management.scope import Scope
from apps.reports.management.selection import Period, Selection


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
