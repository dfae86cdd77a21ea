"""Pages of histories: the list of what was repeated, one metric over time, and decisions about its changes."""

import csv

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import rights
from apps.accounts.models import Role
from apps.bench import strict_json
from apps.comparison.history import changes, charts, points, queries, series, services
from apps.comparison.models import ChangePoint
from apps.core import editing, figures
from apps.core.json_answers import JsonAnswer
from apps.core.search import ListSearch
from apps.core.versions import lock_row
from apps.results import downloads

PAGE = 50
NOTHING_DECIDED = {"state": "", "explanation": ""}


@login_required
@require_GET
def history_list(request: HttpRequest) -> HttpResponse:
    """List what was measured in several campaigns between the same nodes, the most often repeated first."""
    search = ListSearch(request.GET.get("q", ""))
    words = [word.lower() for word in search.words]
    histories = [] if search.error else series.known_histories(rights.user_of(request), least=2)
    histories = [
        item for item in histories if all(word in f"{item.tool.name} {item.nodes}".lower() for word in words)
    ]
    page = Paginator(histories, PAGE).get_page(request.GET.get("page"))
    return render(request, "results/history/list.html", {"page_obj": page, "search": search})


@login_required
@require_GET
def history(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one metric over the campaigns that measured it alike."""
    lane_history = _find(request, pk, request.GET)
    if lane_history and len(request.GET.getlist("point")) > 1:
        return redirect(lane_history.address)
    context: dict[str, object] = {
        "lane": lane_history.lane if lane_history else queries.lane_for(rights.user_of(request), pk),
        "found": lane_history,
    }
    if lane_history:
        change_list = changes.shown_changes(lane_history.subject, lane_history.levels, rights.user_of(request))
        campaigns = {item.level.campaign for item in change_list}
        context |= {
            "missing": queries.missing_of(
                lane_history, point=_point_of(request.GET), metric=request.GET.get("metric")
            ),
            "tool": lane_history.subject.tool,
            "nodes": lane_history.nodes,
            "subject": lane_history.subject,
            "choices": points.choices_among(lane_history.settings, lane_history.setting, lane_history.subject.tool),
            "changes": change_list,
            "course": changes.course_of(lane_history.levels),
            "former": [
                item for item in changes.decisions_on(lane_history.subject) if item.campaign_id not in campaigns
            ],
            "rows": charts.rows_of(lane_history.subject, lane_history.levels, change_list),
            "chart": strict_json.dumps(charts.chart_of(lane_history.subject, lane_history.levels, change_list)),
            "states": ChangePoint.State.choices,
            "can_write": rights.can(request.user, lane_history.subject.team, Role.OPERATOR),
            "least": 2 * changes.LEAST_LEVEL,
        }
    return render(request, "results/history/detail.html", context)


@login_required
@require_GET
def download(request: HttpRequest, pk: int, ending: str) -> HttpResponse:
    """Download the history's levels, one line a campaign, as CSV or JSON, values in base units."""
    lane_history = _find(request, pk, request.GET)
    if lane_history is None:
        raise Http404
    if missing := queries.missing_of(lane_history, point=_point_of(request.GET), metric=request.GET.get("metric")):
        return downloads.refusal_of(missing)
    change_list = changes.shown_changes(lane_history.subject, lane_history.levels, rights.user_of(request))
    rows = charts.flat_rows(lane_history.subject, lane_history.levels, change_list)
    name = f"history-{lane_history.lane.pk}-{lane_history.setting.key}-{lane_history.subject.metric.name}.{ending}"
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    if ending == "json":
        return JsonAnswer(rows, safe=False, headers=disposition)
    answer = HttpResponse(content_type="text/csv; charset=utf-8", headers=disposition)
    writer = csv.DictWriter(answer, fieldnames=charts.COLUMNS)
    writer.writeheader()
    writer.writerows({name: downloads.plain(value) for name, value in row.items()} for row in rows)
    return answer


@login_required
@require_POST
@transaction.atomic
def decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm, explain or dismiss a change-point, or take that back."""
    lane_history = _find(request, pk, request.POST)
    if lane_history is None:
        raise Http404
    rights.require(request.user, lane_history.subject.team, Role.OPERATOR)
    state, campaign = request.POST.get("state", ""), request.POST.get("campaign", "")
    if state not in (*ChangePoint.State.values, services.OPEN) or figures.whole(campaign) is None:
        messages.error(request, _("Choose confirm, explain, dismiss or open again."))
        return redirect(lane_history.address)
    # A change on which nobody has decided has no row of its own.
    lock_row(lane_history.lane)
    decided = services.decision_on(lane_history.subject, int(campaign))
    values = {"state": decided.state, "explanation": decided.explanation} if decided else NOTHING_DECIDED
    texts = {"state": decided.get_state_display()} if decided else {}
    name = str(lane_history.lane.experiment)
    if conflict := editing.page_conflict(request, lane_history.lane, values, name=name, texts=texts):
        return editing.conflict_page(request, conflict)
    try:
        services.settle_change(
            subject=lane_history.subject,
            levels=lane_history.levels,
            campaign=int(campaign),
            state=state,
            explanation=request.POST.get("explanation", "")[: services.LONGEST],
            user=rights.user_of(request),
            now=timezone.now(),
        )
    except services.NeedsExplanation:
        messages.error(request, _("Say why, so that the next reader knows: an explanation needs words."))
    except services.NoSuchChange:
        messages.error(request, _("There is no change at this campaign any more: more figures moved or removed it."))
    else:
        editing.note_change(lane_history.lane, rights.user_of(request).get_username())
        messages.success(request, _("That is kept with the history."))
    return redirect(lane_history.address)


def _find(request: HttpRequest, pk: int, query: QueryDict) -> queries.LaneHistory | None:
    point, metric = _point_of(query), query.get("metric")
    return queries.find(rights.user_of(request), pk, point=point, metric=metric)


def _point_of(query: QueryDict) -> str | None:
    # A form sends a point for each parameter: what was chosen is the one that is not shown yet.
    keys = query.getlist("point")
    return next((key for key in keys if key != query.get("shown")), query.get("point"))
