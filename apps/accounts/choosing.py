"""In which of a person's teams something new is made: the one asked for, else the one they worked in last."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from apps.accounts import scoping
from apps.accounts.models import Role, Team

_LAST = "team"


def note_team(request: HttpRequest, team: Team) -> None:
    """Remember, for the person's next new form, that they worked in a team."""
    if request.session.get(_LAST) != team.pk:
        request.session[_LAST] = team.pk


def usual_team(request: HttpRequest, role: Role) -> Team | None:
    """Return the team in which the person last made or changed something, else their first; None without any.

    Only one in which they have at least `role`.
    """
    teams = scoping.teams_for(request.user, role)
    last = request.session.get(_LAST)
    return (teams.filter(pk=last).first() if last else None) or teams.first()


def team_to_write_in(request: HttpRequest, role: Role) -> Team:
    """Return the team that `?team=` names, else the usual one; Http404 or PermissionDenied if it may not be."""
    if slug := request.GET.get("team"):
        team = get_object_or_404(Team, slug=slug.replace("\0", ""))
        scoping.require(request.user, team, role)
        return team
    usual = usual_team(request, role)
    if usual is None:
        raise PermissionDenied(_("You may not write in any team. Ask a manager of your team for the role."))
    return usual
