"""Pages of agents: who is there, what a node is, how to enrol one; and the program itself."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts import rights
from apps.accounts.models import Role
from apps.agents import commands, outputs, program, queries, services
from apps.agents.facts import excerpt, sound
from apps.agents.models import Agent, AgentInstance, AgentState, JobFile
from apps.core import live_parts
from apps.core.search import ListSearch
from apps.testbeds.models import Node

RECENT_JOBS = 20


@login_required
@require_GET
def agent_list(request: HttpRequest) -> HttpResponse:
    """List the nodes of the person's teams with the states of their agents; the table keeps itself up to date."""
    user, now = rights.user_of(request), timezone.now()
    nodes = rights.visible(Node.objects.select_related("team", "testbed__site"), user).order_by("name", "pk")
    search = ListSearch(request.GET.get("q", ""))
    nodes = search.of(nodes, ["name"])
    team = request.GET.get("team", "").replace("\0", "")
    if team:
        nodes = nodes.filter(team__slug=team)
    state = request.GET.get("state", "")
    if state in AgentState.values:
        nodes = queries.nodes_in_state(nodes, AgentState(state), now)
    page = Paginator(nodes, 50).get_page(request.GET.get("page"))
    context = {
        "rows": queries.node_agents(page.object_list, now),
        "page_obj": page,
        "search": search,
        "state": state,
        "unknown_state": state if state and state not in AgentState.values else "",
        "states": AgentState.choices,
        "team_slug": team,
        "teams": list(rights.teams_for(user, Role.VIEWER)),
        "can_write": rights.teams_for(user, Role.OPERATOR).exists(),
    }
    return live_parts.answer(request, "agents/_table.html", "agents/list.html", context)


@login_required
@require_GET
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a node's agent: its state and recent jobs, kept up to date, the node's facts and what changed in them."""
    node = _node(request, pk)
    (row,) = queries.node_agents([node], timezone.now())
    context: dict[str, Any] = {
        "node": node,
        "agent": row.agent,
        "state": row.state,
        "troubles": [(trouble, trouble.words(node.name)) for trouble in row.troubles],
        "rivals": row.rivals,
        "leftovers": list(queries.leftover_jobs(node.pk, timezone.now())[:RECENT_JOBS]),
        "removals": queries.removals_of(node.pk),
        "can_manage": rights.can(request.user, node.team, Role.MANAGER),
        "restart": commands.restart_of(node).splitlines() if row.state == AgentState.LOST else [],
        "jobs": queries.jobs_for(rights.user_of(request)).filter(node=node)[:RECENT_JOBS],
    }
    if not live_parts.asks_for_part(request):
        latest = queries.latest_facts([node.pk]).get(node.pk)
        context["facts"], context["left_out"] = excerpt(latest) if latest else (None, 0)
        context["history"] = queries.fact_history(node, limit=10)
        context["newest"] = program.version()
        context["update"] = commands.update_of(commands.server_address(request), node)
    return live_parts.answer(request, "agents/_status.html", "agents/detail.html", context)


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def enrol(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a one-time token and show the command to paste; the token is shown this once."""
    node = _managed_node(request, pk)
    (row,) = queries.node_agents([node], timezone.now())
    context: dict[str, Any] = {
        "node": node,
        "agent": row.agent,
        "state": row.state,
        "program": program.current(),
        "name": program.NAME,
        "unit": program.UNIT,
        "folder": (folder := commands.folder_of(node)),
        "install": commands.unit_of(folder, node),
    }
    if request.method == "POST":
        try:
            issued = services.issue_enrolment_token(node=node, user=rights.user_of(request), now=timezone.now())
        except ValidationError as error:
            context["refusals"] = error.messages
            return render(request, "agents/enrol.html", context, status=409)
        context["issued"] = issued
        context["is_insecure"] = commands.is_insecure(commands.server_address(request))
        context["commands"] = commands.of(commands.server_address(request), issued.text, node)
    return live_parts.answer(request, "agents/_arrival.html", "agents/enrol.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, then end the agent's right to take jobs."""
    node = _managed_node(request, pk)
    agent = get_object_or_404(Agent, node=node)
    if request.method != "POST":
        return render(request, "agents/retire.html", {"node": node, "agent": agent})
    services.retire_agent(agent=agent, now=timezone.now())
    messages.success(request, _("The agent of %(node)s is retired; a new one can be enrolled.") % {"node": node})
    return redirect("agents:detail", pk=pk)


@login_required
@require_http_methods(["GET", "POST"])
def forget(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, then remove a retired agent, so that its node can be deleted."""
    node = _managed_node(request, pk)
    agent = get_object_or_404(Agent, node=node)
    if request.method != "POST":
        return render(request, "agents/forget.html", {"node": node, "agent": agent})
    try:
        services.forget_agent(agent=agent)
    except ValidationError as error:
        return render(request, "agents/forget.html", {"node": node, "refusals": error.messages}, status=409)
    messages.success(request, _("The agent of %(node)s is removed.") % {"node": node})
    return redirect("agents:detail", pk=pk)


@login_required
@require_http_methods(["GET", "POST"])
def choose(request: HttpRequest, pk: int, key: UUID) -> HttpResponse:
    """Ask, then put the process to work that a manager says is the right one."""
    node = _managed_node(request, pk)
    instance = get_object_or_404(AgentInstance.objects.select_related("agent__instance"), agent__node=node, key=key)
    if request.method != "POST":
        return render(request, "agents/choose.html", {"node": node, "instance": instance})
    services.choose_instance(agent=instance.agent, key=key, now=timezone.now())
    messages.success(request, _("%(host)s is the agent of %(node)s now.") % {"host": instance, "node": node})
    return redirect("agents:detail", pk=pk)


@login_required
@require_http_methods(["GET", "POST"])
def clear(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, then take for ended what lost jobs may have left running on a node."""
    node = _managed_node(request, pk)
    if request.method != "POST":
        return render(request, "agents/clear.html", {"node": node})
    services.presume_ended(node_id=node.pk, now=timezone.now())
    messages.success(request, _("What was kept back for lost jobs on %(node)s is free again.") % {"node": node})
    return redirect("agents:detail", pk=pk)


@login_required
@require_http_methods(["GET", "POST"])
def removed(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, then take the files of ended runs on a node for removed by hand."""
    node = _managed_node(request, pk)
    if request.method != "POST":
        return render(request, "agents/removed.html", {"node": node, "removals": queries.removals_of(node.pk)})
    services.forget_removals(node_id=node.pk)
    messages.success(request, _("The files of ended runs on %(node)s are taken for removed.") % {"node": node})
    return redirect("agents:detail", pk=pk)


@login_required
@require_GET
def facts(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what an agent said of its node at one time."""
    snapshot = get_object_or_404(queries.facts_for(rights.user_of(request)), pk=pk)
    shown, left_out = excerpt(sound(snapshot.facts))
    context = {"snapshot": snapshot, "node": snapshot.node, "facts": shown, "left_out": left_out}
    return render(request, "agents/facts.html", context)


@login_required
@require_GET
def job_output(request: HttpRequest, pk: UUID, stream: str) -> StreamingHttpResponse:
    """Download what a job printed."""
    return outputs.download(request, get_object_or_404(queries.jobs_for(rights.user_of(request)), pk=pk), stream)


@login_required
@require_GET
def job_file(request: HttpRequest, pk: UUID, name: str) -> StreamingHttpResponse:
    """Download a file that a job gave back."""
    job = get_object_or_404(queries.jobs_for(rights.user_of(request)), pk=pk)
    return outputs.download_file(request, get_object_or_404(JobFile.objects.defer("content_z"), job=job, name=name))


@require_GET
def download_program(request: HttpRequest) -> HttpResponse:
    """Return the agent program; it holds no secret, so nobody has to sign in."""
    package = program.current()
    headers = {"Content-Disposition": f'attachment; filename="{program.NAME}"', "ETag": f'"{package.sha256}"'}
    return HttpResponse(package.data, content_type="application/zip", headers=headers)


@require_GET
def download_unit(request: HttpRequest) -> HttpResponse:
    """Return the systemd unit."""
    headers = {"Content-Disposition": f'attachment; filename="{program.UNIT}"'}
    return HttpResponse(program.systemd_unit(), content_type="text/plain; charset=utf-8", headers=headers)


def _node(request: HttpRequest, pk: int) -> Node:
    nodes = Node.objects.select_related("team", "testbed__site")
    return get_object_or_404(rights.visible(nodes, request.user), pk=pk)


def _managed_node(request: HttpRequest, pk: int) -> Node:
    node = _node(request, pk)
    rights.require(request.user, node.team, Role.MANAGER)
    return node
