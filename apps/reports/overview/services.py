"""Writes: what a management report is over."""

from django.db import transaction

from apps.accounts import rights
from apps.accounts.models import Role, User
from apps.reports.models import Report
from apps.reports.overview.selection import Selection


@transaction.atomic
def change_selection(*, report: Report, user: User, title: str, selection: Selection) -> Report:
    """Change what a management report is called and over; its editions stay as they are."""
    rights.require(user, report.team, Role.OPERATOR)
    report.title, report.selection = title, selection.as_json()
    report.save(update_fields=["title", "selection", "updated_at"])
    return report
