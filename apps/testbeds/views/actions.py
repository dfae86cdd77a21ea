"""Nodes added by pattern, and the path between two ends."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts import rights
from apps.accounts.models import Role, Team
from apps.core.forms import add_errors
from apps.testbeds import forms, queries, services, topology
from apps.testbeds.models import Cluster, Node, Testbed
from apps.testbeds.views.overview import choose_team, team_context


@login_required
@require_http_methods(["GET", "POST"])
def add_nodes(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for a pattern of names and add the nodes to a testbed."""
    testbeds = rights.visible(Testbed.objects.select_related("team", "site"), request.user)
    testbed = get_object_or_404(testbeds, pk=pk)
    rights.require(request.user, testbed.team, Role.OPERATOR)
    form = forms.AddNodesForm(request.POST or None, team=testbed.team)
    if request.method == "POST" and form.is_valid():
        try:
            confirmation = services.confirmation_of(rights.user_of(request), testbed.team)
            nodes = services.add_nodes(testbed=testbed, confirmation=confirmation, **form.values())
        except ValidationError as error:
            add_errors(form, error)
        else:
            text = ngettext("%(number)s node was added.", "%(number)s nodes were added.", len(nodes))
            messages.success(request, text % {"number": len(nodes)})
            return redirect(testbed)
    return render(request, "testbeds/add_nodes.html", {"testbed": testbed, "form": form})


@login_required
@require_POST
def confirm(request: HttpRequest, pk: int) -> HttpResponse:
    """Let an address of a node count by a manager's word."""
    user, address = rights.user_of(request), request.POST.get("address", "").replace("\0", "")
    node = get_object_or_404(rights.visible(Node.objects.select_related("team"), user), pk=pk)
    try:
        services.confirm_address(node=node, address=address, user=user, now=timezone.now())
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        words = {"address": address, "node": node}
        messages.success(request, _("%(address)s of %(node)s is confirmed: nodes may be told to call it.") % words)
    return redirect(node)


@login_required
@require_GET
def path(request: HttpRequest) -> HttpResponse:
    """Show the path between two nodes or clusters: its links, its bottleneck, and what it allows."""
    team = choose_team(request)
    first_end = request.GET.get("from") or request.GET.get("to")
    form = forms.PathForm(request.GET if first_end else None, team=team)
    context: dict[str, Any] = {**team_context(request, team), "form": form}
    if form.is_bound and form.is_valid():
        ends = [_end(team, form.cleaned_data[name]) for name in ("from", "to")]
        report = queries.report_path(ends[0], ends[1], form.cleaned_data["clients"])
        context |= {"ends": ends, "report": report, "drawing": _drawing(ends, report)}
    return render(request, "testbeds/path.html", context)


def _end(team: Team, choice: str) -> Node | Cluster:
    kind, _colon, number = choice.partition(":")
    if kind == "cluster":
        return Cluster.objects.get(team=team, pk=number)
    return Node.objects.select_related("testbed").get(team=team, pk=number)


def _drawing(ends: list[Node | Cluster], report: queries.PathReport | None) -> str:
    nodes = {
        node.pk: node for end in ends for node in ([end] if isinstance(end, Node) else end.nodes.order_by("name"))
    }
    limiting = report.narrowest.key if report and report.narrowest else ""
    return topology.topology_svg(nodes=list(nodes.values()), bottleneck=limiting)
