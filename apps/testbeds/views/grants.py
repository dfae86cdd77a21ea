"""The settings that a node's owner lets teams change."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.accounts import rights
from apps.accounts.models import Role, Team
from apps.core.errors import by_field
from apps.core.forms import StyledWidgets
from apps.testbeds import queries, services
from apps.testbeds.models import Node


class GrantForm(StyledWidgets, forms.Form):
    """Which keys a team may set, and to what."""

    pattern = forms.CharField(
        label=gettext_lazy("Setting"),
        max_length=120,
        widget=forms.TextInput(attrs={"placeholder": "net.ipv4.tcp_congestion_control", "spellcheck": "false"}),
        help_text=gettext_lazy("A key, or a pattern of keys such as net.core.*"),
    )
    values = forms.CharField(
        label=gettext_lazy("Values allowed"),
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "cubic\nbbr", "spellcheck": "false"}),
        help_text=gettext_lazy("One a line, * standing for anything; empty allows every value the key can take."),
    )
    team = forms.ModelChoiceField(Team.objects.none(), label=gettext_lazy("Team"))

    def __init__(self, *args: Any, teams: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        team: Any = self.fields["team"]
        team.queryset = teams


@login_required
def grants(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what may be set on a node, by whom and since when; its team's managers add to it."""
    user = rights.user_of(request)
    node = get_object_or_404(rights.visible(Node.objects.select_related("team"), user), pk=pk)
    may_grant = rights.can(user, node.team, Role.MANAGER)
    teams = rights.teams_for(user, Role.VIEWER)
    form = GrantForm(request.POST or None, teams=teams, initial={"team": node.team_id}) if may_grant else None
    if request.method == "POST":
        rights.require(user, node.team, Role.MANAGER)
        if form and form.is_valid() and _grant(request, node, form):
            return redirect("testbeds:node_grants", pk=pk)
    context = {"node": node, "grants": queries.grants_on(node), "form": form}
    return render(request, "testbeds/grants.html", context, status=422 if form and form.errors else 200)


@login_required
@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw a grant."""
    user = rights.user_of(request)
    grant = get_object_or_404(queries.grants_for(user), pk=pk)
    services.revoke_grant(grant=grant, user=user, now=timezone.now())
    messages.success(request, _("%(setting)s is no longer allowed.") % {"setting": grant.pattern})
    return redirect("testbeds:node_grants", pk=grant.node_id)


def _grant(request: HttpRequest, node: Node, form: GrantForm) -> bool:
    """Say whether it was granted; what is wrong stands in the form then."""
    data = form.cleaned_data
    try:
        services.grant_setting(
            node=node,
            user=rights.user_of(request),
            pattern=data["pattern"],
            values=data["values"].splitlines(),
            team=data["team"],
        )
    except ValidationError as error:
        for name, wrong in by_field(error).items():
            form.add_error(name if name in form.fields else None, wrong)
        return False
    messages.success(request, _("%(setting)s is allowed.") % {"setting": data["pattern"]})
    return True
