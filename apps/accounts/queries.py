"""What is read of teams, members and tokens."""

from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery

from apps.accounts import scoping
from apps.accounts.models import ApiToken, Membership, Team, User


def teams_of(user: User) -> QuerySet[Any]:
    """Return the teams the user may see, each with `own_role` ("" for a superuser's) and `member_count`."""
    own = Membership.objects.filter(team=OuterRef("pk"), user=user).values("role")
    counts = (
        Membership.objects.filter(team=OuterRef("pk")).order_by().values("team").annotate(n=Count("*")).values("n")
    )
    return scoping.visible(Team.objects.all(), user, path="pk").annotate(
        own_role=Subquery(own), member_count=Subquery(counts)
    )


def memberships_of(user: User) -> QuerySet[Membership]:
    """Return the memberships of the teams the user may see."""
    return scoping.visible(Membership.objects.select_related("team", "user"), user)


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """Return the user's own tokens, the newest first, revoked ones too."""
    return ApiToken.objects.filter(user=user)
