"""What is read of teams, members, invitations and tokens."""

from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery

from apps.accounts import rights
from apps.accounts.models import ApiToken, Invitation, Membership, Role, Team, User


def teams_of(user: User) -> QuerySet[Any]:
    """Return the teams the user may see, each with `own_role` ("" for a superuser's) and `member_count`."""
    own = Membership.objects.filter(team=OuterRef("pk"), user=user).values("role")
    counts = (
        Membership.objects.filter(team=OuterRef("pk")).order_by().values("team").annotate(n=Count("*")).values("n")
    )
    return rights.visible(Team.objects.all(), user, path="pk").annotate(
        own_role=Subquery(own), member_count=Subquery(counts)
    )


def memberships_of(user: User) -> QuerySet[Membership]:
    """Return the memberships of the teams the user may see."""
    return rights.visible(Membership.objects.select_related("team", "user"), user)


def managers_of(team: Team) -> list[str]:
    """Return the user names of a team's managers."""
    rows = team.memberships.filter(role=Role.MANAGER, user__is_active=True)
    return list(rows.order_by("user__username").values_list("user__username", flat=True))


def invitations_of(team: Team, now: datetime) -> QuerySet[Invitation]:
    """Return the invitations that a team has open; those that were declined are among them, as if unanswered."""
    return _open(now).filter(team=team).select_related("invited_by")


def invitations_to(username: str | OuterRef, now: datetime) -> QuerySet[Invitation]:
    """Return the invitations that the person of a username, to the letter, may accept."""
    return _open(now).filter(username=username, declined_at=None).select_related("team", "invited_by")


def _open(now: datetime) -> QuerySet[Invitation]:
    return Invitation.objects.filter(withdrawn_at=None, created_at__gt=now - Invitation.LASTS)


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """Return the user's own tokens, the newest first, revoked ones too."""
    return ApiToken.objects.filter(user=user)
