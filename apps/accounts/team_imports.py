"""What every page asks that takes files into a team: whether there is such a team, and which."""

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts import rights, team_choice
from apps.accounts.models import Role, Team, User
from apps.core.forms import StyledWidgets


def importer(request: HttpRequest) -> User:
    """Return who is signed in; PermissionDenied if there is no team whose operator they are."""
    user = rights.user_of(request)
    if not rights.teams_for(user, Role.OPERATOR).exists():
        raise PermissionDenied(_("Importing needs the role of an operator in a team: ask a manager of the team."))
    return user


class IntoTeamForm(StyledWidgets, forms.Form):
    """Base of forms that send something into a team, of which those are offered that one may write in."""

    team = forms.ModelChoiceField(Team.objects.none(), label=gettext_lazy("Team"), empty_label=None)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        teams: Any = self.fields["team"]
        teams.queryset = rights.teams_for(user, Role.OPERATOR).order_by("name")
        teams.initial = team_choice.preselected(user, Role.OPERATOR)
        if teams.initial is None:
            teams.empty_label = _("Choose a team")
