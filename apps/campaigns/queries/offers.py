"""What is read of offers: a campaign's, for the team that offers it, and those to a person's teams."""

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.campaigns.models import Campaign, Share

State = Share.State


def offers_of(campaign: Campaign) -> QuerySet[Share]:
    """Return what is offered of a campaign, by short name; which of them are declined is told to nobody."""
    return campaign.shares.order_by("name", "pk")


def offers_to(user: User) -> QuerySet[Share]:
    """Return the offers to the user's teams that wait or were accepted, the latest first, what waits before.

    Each has `to_id` and `to_name`, the team of the user that it is for.
    """
    named = Team.objects.filter(slug=OuterRef("name"))
    rows = Share.objects.filter(campaign__visibility=Campaign.Visibility.SHARED, campaign__deleting_at=None)
    own = rights.visible(Team.objects.all(), user, path="pk")
    # Anybody may make a team and give it a name that was offered to and is free: that one was not meant.
    meant = own.filter(slug=OuterRef("name"), created_at__lte=OuterRef("created_at"))
    accepted_by = Q(state=State.ACCEPTED, team__in=own.values("pk"))
    return (
        rows.filter(Q(Exists(meant), state=State.OFFERED) | accepted_by)
        .annotate(to_id=Subquery(named.values("pk")), to_name=Subquery(named.values("name")))
        .select_related("campaign__team", "team")
        .order_by("-state", "-created_at", "-pk")
    )


def has_offers(user: User) -> bool:
    """Say whether an offer waits for the user to answer it, as an operator of one of their teams."""
    own = rights.teams_for(user, Role.OPERATOR).values("slug")
    return offers_to(user).filter(state=State.OFFERED, name__in=own).exists()
