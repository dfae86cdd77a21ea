"""Reads of archives that were sent."""

from typing import Any

from django.db.models import Prefetch, Q, QuerySet

from apps.accounts import rights
from apps.accounts.models import Team, User
from apps.archive.campaigns.store.whole import known
from apps.archive.incoming.models import IncomingArchive
from apps.campaigns import permanent_ids
from apps.campaigns.models import Campaign, Tombstone
from apps.campaigns.queries.visibility import sees_whole, told_to, visible


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


def told_of(permanent_id: str, team: Team, user: User) -> dict[str, Any]:
    """Return `campaign` and `of_campaign` of an archive that the user sent to the team, as far as the user sees it.

    Of what the user does not see it is as of one that was never here.
    """
    here, stones = known(permanent_id), Tombstone.objects.filter(permanent_id=permanent_id, team=team)
    if here is not None and sees_whole(here, user):
        return {"campaign": here, "of_campaign": permanent_id}
    is_told = here is None and visible(stones, user).exists()
    # Of a campaign that is not here the whole team is told: this one has an id that nothing has.
    return {"campaign": None, "of_campaign": permanent_id if is_told else permanent_ids.new()}
