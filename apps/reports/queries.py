"""Reads of reports and editions."""

from django.db.models import Count, Max, QuerySet

from apps.accounts import scoping
from apps.accounts.models import User
from apps.campaigns.models import Campaign
from apps.reports.models import Edition, Report


def reports_for(user: User) -> QuerySet[Report]:
    """Return the reports of the user's teams, the latest changed first."""
    return scoping.visible(Report.objects.select_related("team", "campaign", "created_by"), user)


def with_editions(reports: QuerySet[Report]) -> QuerySet[Report]:
    """Return reports with `edition_count` and `last_frozen` for lists."""
    return reports.annotate(edition_count=Count("editions"), last_frozen=Max("editions__created_at"))


def editions_for(user: User) -> QuerySet[Edition]:
    """Return the editions of the user's teams, without their texts, the latest first."""
    rows = Edition.objects.select_related("report__team", "report__campaign", "created_by").defer("canonical")
    return scoping.visible(rows, user, path="report__team")


def reports_of(campaign: Campaign) -> dict[str, Report]:
    """Return the reports of a campaign by language."""
    return {report.language: report for report in Report.objects.filter(campaign=campaign)}
