"""Define a tool, change it to a next version, take one in from a file, and see as one types what it would read."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts import rights, team_choice
from apps.accounts.models import Role, Team
from apps.bench.toolkit import ParameterError
from apps.core.messages import render as render_message
from apps.toolbox import attempts, forms, queries, services
from apps.toolbox.models import TeamTool
from apps.toolbox.views.pages import find_tool


@login_required
@require_http_methods(["GET", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Define a tool; `?team=` chooses among the teams that the person manages."""
    team = _team_of(request)
    if request.method != "POST":
        return _form_page(request, forms.ToolForms(), forms.SlugForm(), team=team)
    parts, head = forms.ToolForms(request.POST), forms.SlugForm(request.POST)
    if parts.is_valid() & head.is_valid():
        try:
            tool = services.create_tool(
                team=team,
                user=rights.user_of(request),
                slug=head.cleaned_data["slug"],
                definition=parts.definition(),
            )
        except ValidationError as error:
            _add_errors(parts, head, error)
        else:
            messages.success(
                request, _("“%(name)s” is defined: campaigns of the team can choose it.") % {"name": tool}
            )
            return redirect(tool)
    return _form_page(request, parts, head, team=team, status=422)


@login_required
@require_http_methods(["GET", "POST"])
def update(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a tool, which makes its next version."""
    tool = find_tool(request, pk, Role.MANAGER)
    latest = queries.latest_version(tool)
    if request.method != "POST":
        parts = forms.ToolForms(initial=queries.definition_of(latest))
        return _form_page(request, parts, forms.NoteForm(initial={"based_on": latest.number}), tool=tool)
    parts, head = forms.ToolForms(request.POST), forms.NoteForm(request.POST)
    if parts.is_valid() & head.is_valid():
        try:
            version = services.change_tool(
                tool=tool,
                user=rights.user_of(request),
                definition=parts.definition(),
                note=head.cleaned_data["note"],
                based_on=head.cleaned_data["based_on"],
            )
        except ValidationError as error:
            _add_errors(parts, head, error)
        else:
            messages.success(request, _("Version %(number)s is made.") % {"number": version.number})
            return redirect(tool)
    return _form_page(request, parts, head, tool=tool, status=422)


@login_required
@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Return the partial that says what the definition as typed so far makes of the pasted output."""
    parts = forms.ToolForms(request.POST)
    context: dict[str, Any] = {"parts": parts}
    if parts.is_valid():
        try:
            definition = services.checked(parts.definition())
            context["attempt"] = attempts.try_definition(
                user=rights.user_of(request), definition=definition, output=parts.trial.cleaned_data["output"]
            )
        except ValidationError as error:
            parts.add_errors(error.message_dict)
        except ParameterError as error:
            context["refused"] = [f"{name}: {render_message(text)}" for name, text in error.errors.items()]
    context["wrong"] = parts.messages()
    return render(request, "toolbox/_preview.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def import_file(request: HttpRequest) -> HttpResponse:
    """Take a tool in from a file: a new one, or the next version of the team's tool of that short name."""
    team = _team_of(request)
    form = forms.FileForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            tool = services.import_tool(team=team, user=rights.user_of(request), raw=form.content())
        except ValidationError as error:
            form.add_refusals(error)
        else:
            messages.success(request, _("“%(name)s” is taken in.") % {"name": tool})
            return redirect(tool)
    status = 422 if request.method == "POST" else 200
    context = {"form": form, "team": team, "teams": _managed(request)}
    return render(request, "toolbox/import.html", context, status=status)


def _managed(request: HttpRequest) -> list[Team]:
    return list(rights.teams_for(request.user, Role.MANAGER))


def _team_of(request: HttpRequest) -> Team:
    """Return the team asked for, else the usual one of those that the person manages."""
    if slug := (request.POST.get("team") or request.GET.get("team", "")):
        team = get_object_or_404(Team, slug=slug.replace("\0", ""))
        rights.require(request.user, team, Role.MANAGER)
        return team
    if not _managed(request):
        raise PermissionDenied(_("Only managers define tools. Ask a manager of your team."))
    return team_choice.usual_team_for(rights.user_of(request), Role.MANAGER)


def _add_errors(parts: forms.ToolForms, head: Any, error: ValidationError) -> None:
    """Show each refusal at the field it concerns."""
    if not hasattr(error, "error_dict"):
        head.add_error(None, error)
        return
    for name, texts in error.message_dict.items():
        if name in head.fields:
            head.add_error(name, texts)
        else:
            parts.add_errors({name: texts})


def _form_page(
    request: HttpRequest,
    parts: forms.ToolForms,
    head: Any,
    *,
    tool: TeamTool | None = None,
    team: Team | None = None,
    status: int = 200,
) -> HttpResponse:
    owner = tool.team if tool else team
    assert owner is not None
    context = {
        "parts": parts,
        "head": head,
        "tool": tool,
        "team": owner,
        "teams": [] if tool else _managed(request),
        "permits": queries.permits_of(owner),
    }
    return render(request, "toolbox/form.html", context, status=status)
