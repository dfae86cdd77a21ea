"""Invitations: a team's, on its page, and one's own."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts import invitations, queries, rights
from apps.accounts.forms import InvitationForm
from apps.accounts.models import Invitation, Role
from apps.accounts.rights import user_of
from apps.accounts.views.teams import team_of, team_response
from apps.core.errors import ConflictError
from apps.core.forms import add_errors

# Of many the newest are shown; what is answered makes room.
_MOST = 50


@login_required
@require_POST
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Invite a person into a team; what is said does not tell whether there is such an account."""
    team = team_of(request, slug)
    rights.require(request.user, team, Role.MANAGER)
    form = InvitationForm(request.POST)
    if form.is_valid():
        try:
            invitation = invitations.invite(
                team=team,
                user=user_of(request),
                username=form.cleaned_data["username"],
                role=Role(form.cleaned_data["role"]),
                now=timezone.now(),
            )
        except ValidationError as error:
            add_errors(form, error)
        else:
            text = _(
                "%(name)s is invited. They join once they accept; nobody is told whether such an account exists: "
                "an administrator makes accounts."
            )
            messages.success(request, text % {"name": invitation.username})
            return redirect("accounts:team", slug=team.slug)
    return team_response(request, team, form)


@login_required
@require_POST
def withdraw(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take an invitation back."""
    team = team_of(request, slug)
    rights.require(request.user, team, Role.MANAGER)
    now = timezone.now()
    invitation = get_object_or_404(queries.invitations_of(team, now), pk=pk)
    invitations.withdraw(invitation=invitation, user=user_of(request), now=now)
    messages.success(request, _("The invitation of %(name)s was withdrawn.") % {"name": invitation.username})
    return redirect("accounts:team", slug=team.slug)


@login_required
@require_safe
def own_list(request: HttpRequest) -> HttpResponse:
    """Show the teams that invite the person."""
    rows = queries.invitations_to(user_of(request).username, timezone.now())[:_MOST]
    return render(request, "accounts/invitation_list.html", {"invitations": rows})


@login_required
@require_POST
def accept(request: HttpRequest, pk: int) -> HttpResponse:
    """Join a team that invites the person."""
    invitation = _own(request, pk)
    try:
        membership = invitations.accept(invitation=invitation, user=user_of(request), now=timezone.now())
    except ConflictError as refused:
        messages.error(request, " ".join(refused.messages))
        return redirect("accounts:invitations")
    words = {"team": membership.team, "role": membership.get_role_display()}
    messages.success(request, _("You are now a member of %(team)s: %(role)s.") % words)
    return redirect("accounts:team", slug=membership.team.slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def decline(request: HttpRequest, pk: int) -> HttpResponse:
    """Refuse an invitation after asking."""
    invitation = _own(request, pk)
    if request.method != "POST":
        return render(request, "accounts/invitation_decline.html", {"invitation": invitation})
    invitations.decline(invitation=invitation, user=user_of(request), now=timezone.now())
    messages.success(request, _("The invitation of %(team)s was declined.") % {"team": invitation.team})
    return redirect("accounts:invitations")


def _own(request: HttpRequest, pk: int) -> Invitation:
    rows = queries.invitations_to(user_of(request).username, timezone.now())
    return get_object_or_404(rows, pk=pk)
