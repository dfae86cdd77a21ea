"""In which of a person's teams something new is made: the one asked for, else their own choice, else their oldest.

Nothing that another person does changes it: neither what a team is called nor that somebody invites them.
"""

from django.core.exceptions import PermissionDenied
from django.db.models import Case, F, OuterRef, Subquery, Value, When
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from apps.accounts import scoping
from apps.accounts.models import Membership, Role, Team, User


def usual_team(user: User, role: Role) -> Team | None:
    """Return the team that the person has chosen for new work, else the one they joined first; None without any.

    Only one in which they have at least `role`.
    """
    joined = Membership.objects.filter(user=user, team=OuterRef("pk")).values("created_at")
    is_chosen = Case(When(pk=user.default_team_id or 0, then=Value(0)), default=Value(1))
    teams = scoping.teams_for(user, role).annotate(is_chosen=is_chosen, joined_at=Subquery(joined))
    return teams.order_by("is_chosen", F("joined_at").asc(nulls_last=True), "pk").first()


def team_to_write_in(request: HttpRequest, role: Role) -> Team:
    """Return the team that `?team=` names, else the usual one; Http404 or PermissionDenied if it may not be."""
    if slug := request.GET.get("team"):
        team = get_object_or_404(Team, slug=slug.replace("\0", ""))
        scoping.require(request.user, team, role)
        return team
    usual = usual_team(scoping.user_of(request), role)
    if usual is None:
        raise PermissionDenied(_("You may not write in any team. Ask a manager of your team for the role."))
    return usual
