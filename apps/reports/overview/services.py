"""Writes: what a management report is over."""

from collections.abc import Callable

from django.db import transaction

from apps.accounts import rights
from apps.accounts.models import Role, User
from apps.campaigns.errors import Refused
from apps.core.versions import hold
from apps.reports.models import Report
from apps.reports.overview.selection import DATES, Selection, wrong_days


@transaction.atomic
def change_selection(
    *, report: Report, user: User, change: Callable[[Selection], Selection], title: str | None = None
) -> Report:
    """Change what a management report is called (None: as it is) and over; its editions stay as they are.

    `change` is given the selection as it now is. Refused names the days that are wrong in what it returns.
    """
    hold(report)
    rights.require(user, report.team, Role.OPERATOR)
    selection = change(Selection.of(report.selection))
    if selection.period == DATES and (wrong := wrong_days(selection.first, selection.last)):
        raise Refused(wrong)
    report.title, report.selection = report.title if title is None else title, selection.as_json()
    report.save(update_fields=["title", "selection", "updated_at"])
    return report
