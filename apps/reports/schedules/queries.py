"""Reads of schedules and deliveries."""

from django.db.models import OuterRef, Prefetch, Q, QuerySet, Subquery

from apps.accounts import consent, rights
from apps.accounts.consent import Recipient
from apps.accounts.models import Role, User
from apps.campaigns import queries as campaigns
from apps.campaigns.models import Campaign
from apps.reports import queries as reports
from apps.reports.models import Delivery, Report, Schedule

# As many deliveries stand on a schedule's page.
SHOWN = 50


def schedules_for(user: User) -> QuerySet[Schedule]:
    """Return the schedules of the user's teams with `last_state` and `last_due`, by name; of a series who sees it."""
    last = Delivery.objects.filter(schedule=OuterRef("pk")).order_by("-due_at", "-pk")
    rows = Schedule.objects.select_related("team", "report", "series", "saved_by").annotate(
        last_state=Subquery(last.values("state")[:1]), last_due=Subquery(last.values("due_at")[:1])
    )
    in_sight = campaigns.visible(Campaign.objects.filter(deleting_at=None), user).order_by().values("pk")
    return rights.visible(rows, user).filter(Q(series=None) | Q(series__in=in_sight)).order_by("name", "pk")


def deliveries_of(schedule: Schedule, user: User) -> list[Delivery]:
    """Return the latest deliveries of a schedule, each with its edition if the user may read that."""
    readable = Prefetch("edition", reports.editions_for(user))
    return list(schedule.deliveries.prefetch_related(readable)[:SHOWN])


def recipients_of(schedule: Schedule) -> list[Recipient]:
    """Return how each recipient of a schedule stands with its team."""
    return consent.recipients_of(schedule.team, schedule.recipients)


def management_reports_for(user: User) -> QuerySet[Report]:
    """Return the management reports of the teams that the user may write in."""
    rows = Report.objects.filter(kind=Report.Kind.MANAGEMENT, team__in=rights.teams_for(user, Role.OPERATOR))
    return rows.order_by("title", "pk")


def series_for(user: User) -> QuerySet[Campaign]:
    """Return the campaign series that the user sees, of the teams that they may write in."""
    rows = Campaign.objects.filter(deleting_at=None, team__in=rights.teams_for(user, Role.OPERATOR)).exclude(cron="")
    return campaigns.visible(rows, user).order_by("name", "pk")
