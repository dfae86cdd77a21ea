"""Reads of archives that were sent."""

from django.db.models import Prefetch, Q, QuerySet

from apps.accounts import rights
from apps.accounts.models import User
from apps.archive.incoming.models import IncomingArchive
from apps.campaigns.models import Campaign
from apps.campaigns.queries.visibility import told_to, visible


def archives_for(user: User) -> QuerySet[IncomingArchive]:
    """Return what the user sent, and what was sent to the user's teams once it is known whom it is told to.

    The name of a file may be that of a campaign. What an archive became, or is of, is given to who sees that.
    """
    campaigns = Prefetch("campaign", visible(Campaign.objects.filter(deleting_at=None), user))
    rows = rights.visible(IncomingArchive.objects.select_related("team", "created_by"), user).prefetch_related(
        campaigns
    )
    if user.is_superuser:
        return rows
    return rows.filter(Q(created_by=user) | Q(of_campaign__gt="") & told_to(user))
