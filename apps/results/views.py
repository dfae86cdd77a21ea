"""Pages of results: an experiment's chart and table, and a trial with all that is known of it."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.accounts import rights
from apps.accounts.models import Role
from apps.agents.models import Job
from apps.bench import strict_json
from apps.bench.sweep import likeness, setting_names
from apps.bench.toolkit import Parameter
from apps.campaigns import queries as campaigns
from apps.campaigns import waits
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.campaigns.queries.visibility import visible
from apps.core.json_answers import JsonAnswer
from apps.results import charts, downloads, intervals, loss, means, node_charts, queries, routes
from apps.results.addresses import point_key
from apps.results.attempts import attempts_of
from apps.results.theory import theory_of
from apps.toolbox import queries as toolbox

LINES_PER_PAGE = 100


def _experiment(request: HttpRequest, pk: int) -> Experiment:
    experiments = Experiment.objects.select_related("campaign__team")
    return get_object_or_404(visible(experiments, request.user, path="campaign"), pk=pk)


def _data_for(request: HttpRequest, experiment: Experiment) -> tuple[queries.FactorTable, dict[str, object]]:
    return charts.data_for(
        experiment,
        metric=request.GET.get("metric"),
        x=request.GET.get("x"),
        include_invalid=request.GET.get("invalid") == "yes",
    )


def _missing(request: HttpRequest, experiment: Experiment) -> dict[str, list[str]]:
    return charts.missing_of(experiment, metric=request.GET.get("metric"), x=request.GET.get("x"))


def _table_context(request: HttpRequest, experiment: Experiment, *, is_part: bool) -> dict[str, object]:
    tool = toolbox.get_tool(experiment.tool)
    table, chart = _data_for(request, experiment)
    lanes = queries.lane_names(experiment)
    ceiling = charts.ceiling_of(table.metric.unit, theory_of(experiment))
    page = Paginator(table.groups, LINES_PER_PAGE).get_page(request.GET.get("page"))
    rows = [
        {
            "x": charts.text_of(queries.parameter_of(tool, table.x), group.x, lanes),
            "others": charts.label_of(tool, table.others, group.others, lanes),
            "summary": group.summary,
            "ends": intervals.ends_of(group, table.metric, ceiling),
            "centre": group.centre,
            "mark": group.mark,
            "trials": [figure.trial for figure in group.figures],
        }
        for group in page.object_list
    ]
    return {
        "experiment": experiment,
        "missing": _missing(request, experiment),
        "page_obj": page,
        "is_part": is_part,
        "tool": tool,
        "metrics": queries.metrics_of(tool),
        "factors": [(name, charts.label_of_factor(tool, name)) for name in queries.factors_of(experiment)],
        "table": table,
        "mean_label": means.label_of(table.mean),
        "chart": chart,
        "chart_json": strict_json.dumps(chart),
        "rows": rows,
        "lanes": lanes,
        "sweeps": loss.sweeps_of(experiment, tool),
        "histories": routes.histories_of(experiment),
    }


@login_required
@require_GET
def experiment(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an experiment's results by any factor and metric."""
    shown_experiment = _experiment(request, pk)
    is_part = bool(request.headers.get("HX-Request"))
    page = "results/_panel.html" if is_part else "results/experiment.html"
    return render(request, page, _table_context(request, shown_experiment, is_part=is_part))


@login_required
@require_GET
def experiment_panel(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial with chart and table that the campaign's page loads."""
    return render(request, "results/_panel.html", _table_context(request, _experiment(request, pk), is_part=True))


@login_required
@require_GET
def experiment_data(request: HttpRequest, pk: int) -> JsonAnswer:
    """Return the chart's data."""
    shown_experiment = _experiment(request, pk)
    if missing := _missing(request, shown_experiment):
        return downloads.refusal_of(missing)
    _table, chart = _data_for(request, shown_experiment)
    return JsonAnswer(chart)


@login_required
@require_GET
def experiment_loss(request: HttpRequest, pk: int) -> JsonAnswer:
    """Return the charts of loss and jitter against the offered load."""
    shown_experiment = _experiment(request, pk)
    return JsonAnswer(loss.charts_of(loss.sweeps_of(shown_experiment, toolbox.get_tool(shown_experiment.tool))))


@login_required
@require_GET
def download(request: HttpRequest, pk: int, ending: str) -> StreamingHttpResponse:
    """Download every sample as CSV or JSON."""
    shown_experiment = _experiment(request, pk)
    return (downloads.csv_of if ending == "csv" else downloads.json_of)(request, shown_experiment)


@login_required
@require_GET
def trial(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a trial: parameters, attempts, commands, raw output, facts, samples."""
    trial_shown = queries.trial_for(rights.user_of(request), pk)
    if trial_shown is None:
        raise Http404
    tool = toolbox.get_tool(trial_shown.experiment.tool)
    waits.attach_trial_waits([trial_shown], request.user, timezone.now())
    attempts = attempts_of(trial_shown, tool, rights.user_of(request))
    is_imported = trial_shown.campaign.origin == Campaign.Origin.IMPORTED
    parameters = [
        (parameter, _setting_of(trial_shown, parameter))
        for parameter in (*tool.parameters, *setting_names.shown_parameters_of(trial_shown.parameters).values())
        if is_imported or parameter.name in trial_shown.parameters
    ]
    context = {
        "trial": trial_shown,
        "can_write": rights.can(request.user, trial_shown.campaign.team, Role.OPERATOR),
        "has_figures": any(attempt.result for attempt in attempts),
        "has_series": any(attempt.result and attempt.result.series.all() for attempt in attempts),
        "is_watched": any(attempt.result and attempt.watched for attempt in attempts),
        "tool": tool,
        "parameters": parameters,
        "attempts": attempts,
        "nodes": queries.lane_names(trial_shown.experiment)[trial_shown.lane_id],
        "history_point": point_key(likeness.told_of(trial_shown.parameters)),
    }
    return render(request, "results/trial.html", context)


def _setting_of(trial_of_page: Trial, parameter: Parameter) -> str:
    """Return what a trial was measured with; of an import what nobody told is not known."""
    if parameter.name not in trial_of_page.parameters:
        return _("not known")
    return charts.text_of(parameter, trial_of_page.parameters[parameter.name], {})


@login_required
@require_GET
def run_series(request: HttpRequest, pk: int) -> JsonAnswer:
    """Return a run's time series for its chart."""
    result = get_object_or_404(queries.results_of(rights.user_of(request)).prefetch_related("series"), run_id=pk)
    return JsonAnswer(charts.series_of(result))


@login_required
@require_GET
def job_telemetry(request: HttpRequest, pk: UUID) -> JsonAnswer:
    """Return the charts of what the kernel said around a job."""
    job = get_object_or_404(Job.objects.select_related("output"), pk=pk)
    # Whoever sees a run sees what its jobs did, also on nodes of another team.
    get_object_or_404(campaigns.runs_for(rights.user_of(request)), pk=job.run_ref)
    return JsonAnswer(node_charts.charts_of(job))
