"""Pages of histories: the list of what was repeated, one metric over time, and decisions about its changes."""

import csv
import json
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import scoping
from apps.accounts.models import Role
from apps.bench.tools.base import Metric
from apps.campaigns.models import Lane
from apps.results import downloads, queries
from apps.results.history import changes, drawing, series, services
from apps.results.history.series import Level, Setting, Subject
from apps.results.models import ChangePoint
from apps.toolbox import queries as toolbox

PAGE = 50


@dataclass(frozen=True)
class Found:
    """What the address of a history names."""

    lane: Lane
    subject: Subject
    setting: Setting
    settings: list[Setting]
    metrics: list[Metric]
    levels: list[Level]

    @property
    def address(self) -> str:
        """Return the address that shows it."""
        query = f"point={self.setting.key}&metric={self.subject.metric.name}"
        return f"{reverse('history:detail', args=[self.lane.pk])}?{query}"


@login_required
@require_GET
def history_list(request: HttpRequest) -> HttpResponse:
    """List what was measured in several campaigns between the same nodes, the most often repeated first."""
    wanted = request.GET.get("q", "").strip()
    known = series.known_histories(scoping.user_of(request), least=2)
    if wanted:
        words = wanted.lower().split()
        known = [item for item in known if all(word in f"{item.tool.name} {item.nodes}".lower() for word in words)]
    page = Paginator(known, PAGE).get_page(request.GET.get("page"))
    return render(request, "results/history/list.html", {"page_obj": page, "q": wanted})


@login_required
@require_GET
def history(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one metric over the campaigns that measured it alike."""
    found = _find(request, pk, request.GET)
    context: dict[str, object] = {"lane": found.lane if found else _lane(request, pk), "found": found}
    if found:
        shown = changes.shown_changes(found.subject, found.levels)
        told = {item.level.campaign for item in shown}
        context |= {
            "tool": found.subject.tool,
            "nodes": queries.lane_names(found.lane.experiment)[found.lane.pk],
            "subject": found.subject,
            "changes": shown,
            "former": [item for item in changes.decisions_on(found.subject) if item.campaign_id not in told],
            "rows": drawing.rows_of(found.levels, shown),
            "chart": json.dumps(drawing.chart_of(found.subject, found.levels, shown)),
            "states": ChangePoint.State.choices,
            "can_write": scoping.can(request.user, found.subject.team, Role.OPERATOR),
            "least": 2 * changes.LEAST_LEVEL,
        }
    return render(request, "results/history/detail.html", context)


@login_required
@require_GET
def download(request: HttpRequest, pk: int, ending: str) -> HttpResponse:
    """Download the history's levels, one line a campaign, as CSV or JSON, values in base units."""
    found = _find(request, pk, request.GET)
    if found is None:
        raise Http404
    rows = drawing.flat_rows(found.subject, found.levels, changes.shown_changes(found.subject, found.levels))
    name = f"history-{found.lane.pk}-{found.setting.key}-{found.subject.metric.name}.{ending}"
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    if ending == "json":
        return JsonResponse(rows, safe=False, headers=disposition)
    answer = HttpResponse(content_type="text/csv; charset=utf-8", headers=disposition)
    writer = csv.DictWriter(answer, fieldnames=drawing.COLUMNS)
    writer.writeheader()
    writer.writerows({name: downloads.safe(value) for name, value in row.items()} for row in rows)
    return answer


@login_required
@require_POST
def decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm, explain or dismiss a change-point, or take that back."""
    found = _find(request, pk, request.POST)
    if found is None:
        raise Http404
    scoping.require(request.user, found.subject.team, Role.OPERATOR)
    state, campaign = request.POST.get("state", ""), request.POST.get("campaign", "")
    if state not in (*ChangePoint.State.values, "open") or not campaign.isdecimal():
        messages.error(request, _("Choose confirm, explain, dismiss or open again."))
        return redirect(found.address)
    try:
        if state == "open":
            services.reopen_change(subject=found.subject, campaign=int(campaign))
        else:
            services.decide_change(
                subject=found.subject,
                levels=found.levels,
                campaign=int(campaign),
                state=ChangePoint.State(state),
                explanation=request.POST.get("explanation", "")[: services.LONGEST],
                user=scoping.user_of(request),
                now=timezone.now(),
            )
    except services.NeedsExplanation:
        messages.error(request, _("Say why, so that the next reader knows: an explanation needs words."))
    except services.NoSuchChange:
        messages.error(request, _("There is no change at this campaign any more: more figures moved or removed it."))
    else:
        messages.success(request, _("That is kept with the history."))
    return redirect(found.address)


def _lane(request: HttpRequest, pk: int) -> Lane:
    lanes = series.lanes_for(scoping.user_of(request)).select_related("experiment__campaign__team")
    return get_object_or_404(lanes, pk=pk)


def _find(request: HttpRequest, pk: int, query: QueryDict) -> Found | None:
    """Return what the query names of a lane; None if nothing was measured on it yet, Http404 if it is not theirs."""
    lane = _lane(request, pk)
    tool = toolbox.get_tool(lane.experiment.tool)
    lanes = series.like(lane)
    settings, metrics = series.settings_of(lanes, tool), series.metrics_measured(tool, lanes)
    if not settings or not metrics:
        return None
    setting = next((item for item in settings if item.key == query.get("point")), settings[0])
    metric = next((item for item in metrics if item.name == query.get("metric")), metrics[0])
    subject = Subject(lane.experiment.campaign.team, tool, metric, lane.roles, setting.parameters)
    return Found(lane, subject, setting, settings, metrics, series.levels_of(subject, lanes))
