"""In which of a person's teams something new is made: the one asked for, else their own choice, else their oldest.

Nothing that another person does sends it elsewhere: neither what a team is called nor an invitation changes it, and
where the role in that team is too low, or became so, the request is refused.
"""

from collections.abc import Iterable

from django.core.exceptions import PermissionDenied
from django.db.models import Case, F, OuterRef, Subquery, Value, When
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import Membership, Role, Team, User


class TeamNeeded(PermissionDenied):
    """The person's usual team is closed to them here; `teams` are those that they may name instead."""

    def __init__(self, text: str, teams: Iterable[Team]) -> None:
        super().__init__(text)
        self.teams = list(teams)


def usual_team(user: User) -> Team | None:
    """Return the team that the person has chosen for new work, else the one they joined first; None without any.

    Their role in it does not matter. An administrator who is in none has the oldest. Where the chosen team is closed
    to them it is the one they joined first, which is to be read only: `usual_team_for` refuses to write in its place.
    """
    joined = Membership.objects.filter(user=user, team=OuterRef("pk")).values("created_at")
    is_chosen = Case(When(pk=user.default_team_id or 0, then=Value(0)), default=Value(1))
    teams = rights.teams_for(user, Role.VIEWER).annotate(is_chosen=is_chosen, joined_at=Subquery(joined))
    return teams.order_by("is_chosen", F("joined_at").asc(nulls_last=True), "pk").first()


def preselected(user: User, role: Role) -> Team | None:
    """Return the usual team for a form to offer first; None, so that one is chosen, if the role in it is too low."""
    team = None if has_lost_choice(user) else usual_team(user)
    return team if team is not None and rights.can(user, team, role) else None


def has_lost_choice(user: User) -> bool:
    """Say whether the team that the person has chosen for new work is closed to them by now."""
    chosen = user.default_team_id
    return chosen is not None and not rights.teams_for(user, Role.VIEWER).filter(pk=chosen).exists()


def usual_team_for(user: User, role: Role) -> Team:
    """Return the usual team, in which the person has `role`; PermissionDenied, or TeamNeeded, says why not."""
    team, has_lost = usual_team(user), role != Role.VIEWER and has_lost_choice(user)
    if team is not None and not has_lost and rights.can(user, team, role):
        return team
    others = rights.teams_for(user, role).order_by("name")
    if team is None or not others:
        raise PermissionDenied(_refusal(role))
    if has_lost:
        text = _("You are no longer in the team that you chose for new work: name a team, or choose another.")
        raise TeamNeeded(text, others)
    texts = {
        Role.OPERATOR: _("You may only read in %(team)s: name a team in which you may write."),
        Role.MANAGER: _("You do not manage %(team)s: name a team that you manage."),
    }
    raise TeamNeeded(texts[role] % {"team": team.slug}, others)


def team_to_write_in(request: HttpRequest, role: Role) -> Team:
    """Return the team that the form that was sent, or `?team=`, names, else the usual one.

    Http404 or PermissionDenied if it may not be: what was typed for one team is not kept in another.
    """
    if slug := request.POST.get("team") or request.GET.get("team"):
        team = get_object_or_404(Team, slug=slug.replace("\0", ""))
        rights.require(request.user, team, role)
        return team
    return usual_team_for(rights.user_of(request), role)


def _refusal(role: Role) -> str:
    if role == Role.VIEWER:
        return _("You are in no team yet")
    return _("You may not write in any team. Ask a manager of your team for the role.")
