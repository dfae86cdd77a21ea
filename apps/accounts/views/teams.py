"""Teams and their members."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts import queries, quotas, rights, services
from apps.accounts.forms import InvitationForm, NewTeamForm, RoleForm, TeamNameForm
from apps.accounts.models import Membership, Role, Team
from apps.accounts.rights import user_of
from apps.core import editing
from apps.core.forms import add_errors
from apps.core.versions import lock_row


@login_required
@require_safe
def team_list(request: HttpRequest) -> HttpResponse:
    """List the person's teams, each with the role there."""
    teams = [
        (team, Role(team.own_role).label if team.own_role else "") for team in queries.teams_of(user_of(request))
    ]
    return render(request, "accounts/team_list.html", {"teams": teams})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team_create(request: HttpRequest) -> HttpResponse:
    """Make a team and become its manager."""
    form = NewTeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            team = services.create_team(
                user=user_of(request), name=form.cleaned_data["name"], slug=form.cleaned_data["slug"]
            )
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, _("Team “%(name)s” was created; you are its manager.") % {"name": team})
            return redirect("accounts:team", slug=team.slug)
    return render(request, "accounts/team_create.html", {"form": form})


@login_required
@require_safe
def team_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a team with its members; its manager changes them here."""
    return team_response(request, team_of(request, slug))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@transaction.atomic
def team_update(request: HttpRequest, slug: str) -> HttpResponse:
    """Rename a team."""
    team = team_of(request, slug)
    rights.require(request.user, team, Role.MANAGER)
    if request.method == "POST":
        lock_row(team)
        team.refresh_from_db()
    name = team.name
    form = editing.guard(TeamNameForm(request.POST or None, instance=team))
    if request.method == "POST" and not editing.refuse_stale(form, team) and form.is_valid():
        services.update_team(team=team, user=user_of(request), name=form.cleaned_data["name"])
        editing.note_change(team, user_of(request).get_username())
        messages.success(request, _("Team “%(name)s” was saved.") % {"name": team})
        return redirect("accounts:team", slug=team.slug)
    context = {"form": form, "team": team, "shown_name": name}
    return render(request, "accounts/team_update.html", context, status=409 if form.conflict else 200)


@login_required
@require_POST
@transaction.atomic
def member_role(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Give a member another role."""
    membership = _membership(request, slug, pk)
    rights.require(request.user, membership.team, Role.MANAGER)
    lock_row(membership)
    membership.refresh_from_db()
    texts = {"role": membership.get_role_display()}
    if conflict := editing.page_conflict(request, membership, {"role": membership.role}, texts=texts):
        return editing.conflict_page(request, conflict)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose viewer, operator or manager."))
        return redirect("accounts:team", slug=slug)
    try:
        services.change_role(membership=membership, user=user_of(request), role=Role(form.cleaned_data["role"]))
    except services.LastManager as error:
        messages.error(request, " ".join(error.messages))
    else:
        editing.note_change(membership, user_of(request).get_username())
        words = {"name": membership.user, "role": membership.get_role_display()}
        messages.success(request, _("%(name)s: %(role)s.") % words)
    return redirect("accounts:team", slug=slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def member_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take a member off the team after asking; everyone may leave."""
    membership = _membership(request, slug, pk)
    leaving = membership.user_id == request.user.pk
    if not leaving:
        rights.require(request.user, membership.team, Role.MANAGER)
    if request.method != "POST":
        return render(request, "accounts/member_remove.html", {"membership": membership, "leaving": leaving})
    words = {"name": membership.user, "team": membership.team}
    try:
        services.remove_member(membership=membership, user=user_of(request))
    except services.LastManager as error:
        messages.error(request, " ".join(error.messages))
        return redirect("accounts:team", slug=slug)
    if leaving:
        messages.success(request, _("You have left %(team)s.") % words)
        return redirect("accounts:teams")
    messages.success(request, _("%(name)s is no longer a member of %(team)s.") % words)
    return redirect("accounts:team", slug=slug)


def team_of(request: HttpRequest, slug: str) -> Team:
    """Return a team that the person may see, else raise Http404."""
    return get_object_or_404(queries.teams_of(user_of(request)), slug=slug)


def team_response(request: HttpRequest, team: Team, form: InvitationForm | None = None) -> HttpResponse:
    """Return a team's page; `form` is an invitation that was refused."""
    memberships = list(team.memberships.select_related("user"))
    managers = [membership.pk for membership in memberships if membership.role == Role.MANAGER]
    may_manage = rights.can(request.user, team, Role.MANAGER)
    context: dict[str, Any] = {
        "team": team,
        "memberships": memberships,
        "only_manager": managers[0] if len(managers) == 1 else None,
        "roles": Role.choices,
        "may_manage": may_manage,
        "invitations": queries.invitations_of(team, timezone.now()) if may_manage else (),
        "form": form or InvitationForm(),
        "usage": quotas.usage_of(team),
    }
    return render(request, "accounts/team.html", context)


def _membership(request: HttpRequest, slug: str, pk: int) -> Membership:
    return get_object_or_404(queries.memberships_of(user_of(request)), team__slug=slug, pk=pk)
