"""Lists and one tool: its versions, where they are used, its log; and what its managers do to it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts import pages, rights
from apps.accounts.models import Role
from apps.bench import tools
from apps.core.errors import ConflictError
from apps.toolbox import files, queries, services
from apps.toolbox.models import TeamTool, ToolVersion


class ToolList(pages.ListPage):
    """The tools of one's teams; below them those of the service."""

    model = TeamTool
    queryset = queries.team_tools()
    url_base = "toolbox:tool"
    template_name = "toolbox/list.html"
    write_role = Role.MANAGER
    search_fields = ("name", "slug", "summary")
    sortable = ("name", "slug", "updated_at")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the tools of the service."""
        context = super().get_context_data(**kwargs)
        return context | {"shows_team": len(context["teams"]) > 1, "built_in": tools.all_tools()}


def find_tool(request: HttpRequest, pk: int, role: Role = Role.VIEWER) -> TeamTool:
    """Return a tool of the person's teams; Http404 for a stranger, PermissionDenied for a role that is too low."""
    tool = get_object_or_404(rights.visible(queries.team_tools(), request.user), pk=pk)
    rights.require(request.user, tool.team, role)
    return tool


@login_required
@require_GET
def detail(request: HttpRequest, pk: int, number: int | None = None) -> HttpResponse:
    """Show a tool in its latest version, or in one of its versions."""
    tool = find_tool(request, pk)
    versions = list(queries.versions_of(tool))
    version_number = queries.latest_version(tool).number if number is None else number
    current = next((version for version in versions if version.number == version_number), None)
    if current is None:
        return redirect(tool)
    uses = queries.uses_of(versions, rights.user_of(request))
    runnable = queries.made_of(current)
    context = {
        "tool": tool,
        "shown": current,
        "made": runnable,
        "definition": queries.definition_of(current),
        "versions": [(version, len(uses.get(version.slug, []))) for version in versions],
        "uses": [(version, use) for version in versions for use in uses.get(version.slug, [])],
        "permits": queries.permits_of(tool.team, runnable.programs),
        "events": tool.events.select_related("user")[:50],
        "can_write": rights.can(request.user, tool.team, Role.MANAGER),
    }
    return render(request, "toolbox/detail.html", context)


@login_required
@require_GET
def export(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Return a version as a YAML file."""
    tool = find_tool(request, pk)
    version = get_object_or_404(ToolVersion.objects.select_related("tool"), tool=tool, number=number)
    text = files.export_tool(tool.slug, queries.definition_of(version))
    name = f'attachment; filename="{version.slug}.yaml"'
    return HttpResponse(text, content_type="application/yaml; charset=utf-8", headers={"Content-Disposition": name})


@login_required
@require_http_methods(["POST"])
def take_over(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Have a version that came with an archive be offered, and run."""
    tool = find_tool(request, pk, Role.MANAGER)
    get_object_or_404(ToolVersion, tool=tool, number=number)
    try:
        version = services.take_over(tool=tool, user=rights.user_of(request), number=number)
    except ConflictError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, _("“%(name)s” is taken over.") % {"name": version.slug})
    return redirect(tool)


@login_required
@require_http_methods(["GET", "POST"])
def archive(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, then offer a tool no more."""
    tool = find_tool(request, pk, Role.MANAGER)
    if request.method != "POST":
        return render(request, "toolbox/archive.html", {"tool": tool})
    services.archive_tool(tool=tool, user=rights.user_of(request), now=timezone.now())
    messages.success(request, _("“%(name)s” is archived.") % {"name": tool})
    return redirect(tool)


@login_required
@require_http_methods(["POST"])
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Offer an archived tool again."""
    tool = find_tool(request, pk, Role.MANAGER)
    services.restore_tool(tool=tool, user=rights.user_of(request), now=timezone.now())
    messages.success(request, _("“%(name)s” is offered again.") % {"name": tool})
    return redirect(tool)
