"""The list of a campaign's trials with their figures."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from apps.accounts import rights
from apps.campaigns import queries as campaigns
from apps.campaigns import waits
from apps.campaigns.models import Trial
from apps.core import figures
from apps.results import doubts, trial_table
from apps.toolbox import queries as toolbox

TRIALS_PER_PAGE = 100


@login_required
@require_GET
def trial_list(request: HttpRequest, pk: int) -> HttpResponse:
    """List a campaign's trials, by state, experiment and flags if asked; of one experiment metrics are columns."""
    user = rights.user_of(request)
    campaign = get_object_or_404(campaigns.campaigns_for(user), pk=pk)
    experiments = list(campaign.experiments.select_related("campaign__team"))
    number = figures.whole(request.GET.get("experiment", ""))
    state, sort = request.GET.get("state", ""), request.GET.get("sort", "")
    rows = Trial.objects.filter(campaign=campaign).select_related("experiment")
    if state in Trial.State.values:
        rows = rows.filter(state=state)
    if number is not None:
        rows = rows.filter(experiment=number)
    is_flagged = request.GET.get("flagged") == "1"
    if is_flagged:
        rows = rows.filter(pk__in=doubts.results_in_doubt().filter(trial__campaign=campaign).values("trial"))
    tools = {experiment.tool: toolbox.get_tool(experiment.tool) for experiment in experiments}
    chosen = next((item for item in experiments if item.pk == number or len(experiments) == 1), None)
    sheet = trial_table.sheet_of(chosen, tools[chosen.tool]) if chosen else None
    columns = trial_table.columns_of(sheet, request.GET.getlist("column"), rows) if sheet else []
    page = Paginator(trial_table.ordered(rows, sheet, sort), TRIALS_PER_PAGE).get_page(request.GET.get("page"))
    waits.attach_trial_waits(list(page), user, timezone.now())
    context = {
        "campaign": campaign,
        "page_obj": page,
        "rows": trial_table.rows_of(list(page), sheet, columns, tools),
        "columns": columns,
        "shown": [column for column in columns if column.is_shown],
        "states": Trial.State.choices,
        "experiments": experiments,
        "chosen": chosen,
        "state": state,
        "sort": sort,
        "is_flagged": is_flagged,
        "unknown_state": state if state and state not in Trial.State.values else "",
    }
    return render(request, "results/trials.html", context)
