"""The inventory as a whole: what there is, the network, a file in and out, the example."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts import rights, team_choice
from apps.accounts.models import Role, Team
from apps.core.forms import add_errors
from apps.testbeds import forms, inventory, queries, services, topology

# Unchanged things are only counted in a preview.
SHOWN = (inventory.CREATED, inventory.CHANGED)


def choose_team(request: HttpRequest, role: Role = Role.VIEWER) -> Team:
    """Return the team that `?team=` names, else the person's usual one; Http404 if there is none.

    PermissionDenied where the person's role is too low.
    """
    user = rights.user_of(request)
    data = request.POST if request.method == "POST" else request.GET
    slug = (data.get("team") or request.GET.get("team") or "").replace("\0", "")
    if slug:
        team = rights.teams_for(user, Role.VIEWER).filter(slug=slug).first()
    else:
        team = team_choice.usual_team(user)
        if team is not None and role != Role.VIEWER:
            team = team_choice.usual_team_for(user, role)
    if team is None:
        raise Http404
    rights.require(request.user, team, role)
    return team


def team_context(request: HttpRequest, team: Team) -> dict[str, Any]:
    """Return what pages about one team show of it."""
    return {
        "team": team,
        "teams": list(rights.teams_for(request.user, Role.VIEWER)),
        "can_write": rights.can(request.user, team, Role.OPERATOR),
    }


@login_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Show how much of each kind a team has, and its network."""
    if not rights.teams_for(request.user, Role.VIEWER).exists():
        return render(request, "testbeds/no_team.html")
    team = choose_team(request)
    counts = queries.counts(team)
    context = {
        **team_context(request, team),
        "counts": [
            (kind._meta.verbose_name_plural, number, reverse(f"testbeds:{kind._meta.model_name}_list"))
            for kind, number in counts.items()
        ],
        "is_empty": not any(counts.values()),
        "drawing": topology.topology_svg(team=team),
    }
    return render(request, "testbeds/home.html", context)


@login_required
@require_GET
def export(request: HttpRequest) -> HttpResponse:
    """Return a team's inventory as a file."""
    team = choose_team(request)
    name = f"inventory-{team.slug}.yaml"
    return HttpResponse(
        inventory.export_inventory(team=team),
        content_type="application/yaml; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@login_required
@require_http_methods(["GET", "POST"])
def import_file(request: HttpRequest) -> HttpResponse:
    """Ask for a file, show what it would do, and do it."""
    team = choose_team(request, Role.OPERATOR)
    context = team_context(request, team)
    if request.method == "GET":
        text = inventory.example_text() if "example" in request.GET else ""
        return render(
            request, "testbeds/import.html", context | {"form": forms.ImportForm(initial={"inventory": text})}
        )
    form = forms.ImportForm(request.POST, request.FILES)
    if form.is_valid():
        text = form.cleaned_data["inventory"]
        try:
            return _imported(request, context, text)
        except ValidationError as error:
            add_errors(form, error)
    return render(request, "testbeds/import.html", context | {"form": form}, status=422)


def _imported(request: HttpRequest, context: dict[str, Any], text: str) -> HttpResponse:
    """Show what the file would do; do it if that has been seen. ValidationError says what is wrong with it."""
    confirmed = "confirmed" in request.POST
    changes = inventory.import_inventory(
        team=context["team"],
        text=text,
        dry_run=not confirmed,
        confirmation=services.confirmation_of(rights.user_of(request), context["team"]),
    )
    done = [change for change in changes if change.action in SHOWN]
    if confirmed:
        messages.success(request, _imported_words(len(done)))
        return redirect(f"{reverse('testbeds:home')}?team={context['team'].slug}")
    preview = {"changes": done, "same": len(changes) - len(done), "text": text}
    return render(request, "testbeds/import_preview.html", context | preview)


def _imported_words(number: int) -> str:
    text = ngettext("%(number)s thing was created or changed.", "%(number)s things were created or changed.", number)
    return text % {"number": number}


@login_required
@require_POST
def load_example(request: HttpRequest) -> HttpResponse:
    """Give a team the published example, unless it has things of the same names that differ: then show which."""
    team = choose_team(request, Role.OPERATOR)
    preview = inventory.import_inventory(team=team, text=inventory.example_text(), dry_run=True)
    if any(change.action == inventory.CHANGED for change in preview):
        return redirect(f"{reverse('testbeds:import')}?team={team.slug}&example=1")
    changes = inventory.load_example(team=team)
    messages.success(request, _imported_words(sum(change.action in SHOWN for change in changes)))
    return redirect(f"{reverse('testbeds:home')}?team={team.slug}")
