"""Who may see and change what: everything belongs to a team, and a role says how far it may be used."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.db.models.expressions import RawSQL
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from rest_framework.request import Request

from apps.accounts.models import Membership, Role, Team, User
from apps.core.subqueries import prepared

M = TypeVar("M", bound=Model)

_RANK = {Role.VIEWER: 0, Role.OPERATOR: 1, Role.MANAGER: 2}


def user_of(request: HttpRequest | Request) -> User:
    """Return who is signed in, for views that only they reach."""
    assert isinstance(request.user, User)
    return request.user


def visible(queryset: QuerySet[M], user: User | AnonymousUser, path: str = "team") -> QuerySet[M]:
    """Return the rows of the user's teams; `path` leads from a row to its team. A superuser sees all."""
    if not user.is_authenticated:
        return queryset.none()
    if user.is_superuser:
        return queryset
    return queryset.filter(**{f"{path}__in": _teams_of(user.pk)})


@lru_cache(1000)
def _teams_of(user: int) -> RawSQL:
    """Return the teams of a person as a part of what is asked of the database: none is kept, only the question."""
    return prepared(Membership.objects.filter(user=user).values("team"))


def role_in(user: User | AnonymousUser, team: Team) -> Role | None:
    """Return the user's role in the team, or None for a stranger; a superuser is everywhere a manager."""
    if not user.is_authenticated:
        return None
    if user.is_superuser:
        return Role.MANAGER
    role = Membership.objects.filter(user=user, team=team).values_list("role", flat=True).first()
    return Role(role) if role else None


def suffices(own: Role | None, needed: Role) -> bool:
    """Say whether one's own role (None: a stranger) is at least the one needed."""
    return own is not None and _RANK[own] >= _RANK[needed]


def can(user: User | AnonymousUser, team: Team, role: Role) -> bool:
    """Say whether the user has at least `role` in the team."""
    return suffices(role_in(user, team), role)


def still_may(person: int | None, team: Team, role: Role) -> bool:
    """Say whether a person, by their number, has at least `role` in the team now, with an account that is open.

    What somebody opened by that right ends with it. To be asked in the transaction that uses what they opened, with
    the team held (`services.locked`): whoever takes the right away holds it, too. None, an account that is gone, may
    nothing.
    """
    holder = User.objects.filter(pk=person, is_active=True).first() if person is not None else None
    return holder is not None and can(holder, team, role)


def require(user: User | AnonymousUser, team: Team, role: Role) -> None:
    """Raise Http404 for a stranger, PermissionDenied for a member whose role is too low."""
    own = role_in(user, team)
    if own is None:
        raise Http404
    if not suffices(own, role):
        raise PermissionDenied(
            _("Your role in %(team)s is %(own)s; this needs %(needed)s. Ask a manager of the team.")
            % {"team": team.name, "own": own.value, "needed": role.value}
        )


def attach_foreign_teams(rows: Iterable[Any], user: User | AnonymousUser) -> None:
    """Give each row `foreign_team`, the name of its team if the user is no member of that, else ""."""
    listed = list(rows)
    names = foreign_names(user, (row.team_id for row in listed))
    for row in listed:
        row.foreign_team = names.get(row.team_id, "")


def foreign_names(user: User | AnonymousUser, teams: Iterable[int]) -> dict[int, str]:
    """Return {team: its name} of those that the user is no member of: it stands beside whatever is shown of them."""
    rows = Team.objects.filter(pk__in=set(teams))
    if user.is_authenticated:
        rows = rows.exclude(memberships__user=user)
    return dict(rows.order_by().values_list("pk", "name"))


def teams_for(user: User | AnonymousUser, role: Role) -> QuerySet[Team]:
    """Return the teams in which the user has at least `role`."""
    if not user.is_authenticated:
        return Team.objects.none()
    if user.is_superuser:
        return Team.objects.all()
    enough = [name for name, rank in _RANK.items() if rank >= _RANK[role]]
    return Team.objects.filter(memberships__user=user, memberships__role__in=enough).distinct()
