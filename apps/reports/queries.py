"""Reads of reports and editions."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Max, Q, QuerySet

from apps.accounts import rights
from apps.accounts.models import User
from apps.campaigns.models import Campaign
from apps.campaigns.queries.visibility import visible
from apps.reports.models import Edition, Report


def reports_for(user: User) -> QuerySet[Report]:
    """Return the reports of the user's teams on campaigns that the user may see, the latest changed first."""
    rows = Report.objects.select_related("team", "campaign", "created_by")
    return rights.visible(rows, user).filter(_on_visible(user, "campaign"))


def known_reports(user: User) -> QuerySet[Report]:
    """Return the reports that lists name to the user: theirs, and those of editions they may read."""
    read = editions_for(user).order_by().values("report")
    return Report.objects.filter(Q(pk__in=reports_for(user).order_by().values("pk")) | Q(pk__in=read))


def with_editions(reports: QuerySet[Report]) -> QuerySet[Report]:
    """Return reports with `edition_count` and `last_frozen` for lists."""
    counted = reports.annotate(edition_count=Count("editions"), last_frozen=Max("editions__created_at"))
    # Grouped rows have no order of their own.
    return counted.order_by("-updated_at", "-pk")


def editions_for(user: User | AnonymousUser) -> QuerySet[Edition]:
    """Return the editions that the user may read, without their texts, the latest first.

    Whoever sees a campaign whole sees the editions on it; others are seen by their team.
    """
    rows = Edition.objects.select_related("report__team", "report__campaign", "created_by").defer("canonical")
    if user.is_authenticated and user.is_superuser:
        return rows
    seen = Q(report__campaign__in=_visible_campaigns(user))
    if user.is_authenticated:
        seen |= Q(report__campaign=None, report__team__in=user.teams.order_by().values("pk"))
    return rows.filter(seen)


def reports_of(campaign: Campaign) -> dict[str, Report]:
    """Return the reports of a campaign by language."""
    return {report.language: report for report in Report.objects.filter(campaign=campaign)}


def _on_visible(user: User, path: str) -> Q:
    return Q(**{path: None}) | Q(**{f"{path}__in": _visible_campaigns(user)})


def _visible_campaigns(user: User | AnonymousUser) -> QuerySet[Campaign]:
    return visible(Campaign.objects.filter(deleting_at=None), user).order_by().only("pk")
