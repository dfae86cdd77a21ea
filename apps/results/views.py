"""Pages of results: an experiment's chart and table, and a trial with all that is known of it."""

import json
import shlex
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from apps.accounts import scoping
from apps.accounts.models import Role
from apps.agents import queries as agents
from apps.agents.models import Job
from apps.bench.sweep import setting_names
from apps.bench.tools.base import AROUND, BY_SIZE, Metric
from apps.campaigns import queries as campaigns
from apps.campaigns import waits
from apps.campaigns.models import Experiment, Run
from apps.campaigns.queries.visibility import visible
from apps.results import charts, downloads, loss, node_charts, placements, queries, routes, services
from apps.results.history import points
from apps.results.models import Result, Superseded
from apps.toolbox import queries as toolbox

# So many lines of an experiment's table stand on one page.
LINES = 100
# What a page shows of a raw output; the whole is a download away.
SHOWN_CHARACTERS = 20_000


@dataclass(frozen=True)
class Printed:
    """One stream of a job's raw output, as much of it as the page shows."""

    name: str
    text: str
    cut: bool


@dataclass(frozen=True)
class Command:
    """A job as the trial's page shows it."""

    job: Job
    line: str
    printed: list[Printed]
    watched: node_charts.Watched | None


@dataclass(frozen=True)
class Attempt:
    """A run as the trial's page shows it."""

    run: Run
    commands: list[Command]
    result: Result | None
    samples: list[tuple[Metric, float]]
    kept: list[charts.Kept]
    clients: charts.Clients | None
    placement: placements.Placement | None

    @property
    def earlier(self) -> list[tuple[Superseded, list[tuple[Metric, float]]]]:
        """Return the earlier editions of the result with the figures that differ from those of the present one."""
        metrics = {metric.name: (metric, value) for metric, value in self.samples}
        return [
            (
                edition,
                [
                    (metrics[item["metric"]][0], item["value"])
                    for item in edition.reading["samples"]
                    if item["metric"] in metrics and metrics[item["metric"]][1] != item["value"]
                ],
            )
            for edition in (self.result.earlier.all() if self.result else ())
        ]

    @property
    def flags(self) -> list[tuple[dict[str, Any], list[str]]]:
        """Return the result's flags, each with the labels of the metrics it bears on (none: all)."""
        labels = {metric.name: metric.label for metric, _value in self.samples}
        flags = self.result.flags if self.result else []
        return [(flag, [labels.get(name, name) for name in flag.get("metrics", ())]) for flag in flags]

    @property
    def is_by_size(self) -> bool:
        """Return whether the run's series are over the size of messages or records, not over time."""
        series = self.result.series.all() if self.result else ()
        return bool(series) and all(item.stream.startswith(BY_SIZE) for item in series)

    @property
    def watched(self) -> list[Command]:
        """Return the tool's own commands whose time was watched: those that measured first, of them the senders."""
        stages = (self.run.plan or {"stages": []})["stages"]
        found = [
            command
            for command in self.commands
            if command.watched and not stages[command.job.stage]["name"].startswith(AROUND)
        ]
        measuring = [
            (number, tuple(command["argv"]))
            for number, stage in enumerate(stages)
            for command in stage["commands"]
            if command.get("measures", True)
        ]

        def order(command: Command) -> tuple[bool, bool]:
            is_sender = bool(command.watched and command.watched.is_sender)
            return (command.job.stage, tuple(command.job.argv)) not in measuring, not is_sender

        return sorted(found, key=order)


def _command(job: Job) -> Command:
    streams = services.printed_by(job)
    return Command(
        job=job,
        line=shlex.join(job.argv),
        printed=[
            Printed(name, text[:SHOWN_CHARACTERS], len(text) > SHOWN_CHARACTERS)
            for name, text in ((name, data.decode(errors="replace")) for name, data in streams.items())
            if text
        ],
        watched=node_charts.watched(job),
    )


def _experiment(request: HttpRequest, pk: int) -> Experiment:
    experiments = Experiment.objects.select_related("campaign__team")
    return get_object_or_404(visible(experiments, request.user, path="campaign"), pk=pk)


def _data_for(request: HttpRequest, experiment: Experiment) -> tuple[queries.Table, dict[str, object]]:
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
    page = Paginator(table.groups, LINES).get_page(request.GET.get("page"))
    rows = [
        {
            "x": charts.text_of(queries.parameter_of(tool, table.x), group.x, lanes),
            "others": charts.label_of(tool, table.others, group.others, lanes),
            "summary": group.summary,
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
        "chart": chart,
        "chart_json": json.dumps(chart),
        "rows": rows,
        "lanes": lanes,
        "sweeps": loss.sweeps_of(experiment, tool),
        "histories": routes.histories_of(experiment),
    }


@login_required
@require_GET
def experiment(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an experiment's results by any factor and metric."""
    found = _experiment(request, pk)
    is_part = bool(request.headers.get("HX-Request"))
    page = "results/_panel.html" if is_part else "results/experiment.html"
    return render(request, page, _table_context(request, found, is_part=is_part))


@login_required
@require_GET
def experiment_panel(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial with chart and table that the campaign's page loads."""
    return render(request, "results/_panel.html", _table_context(request, _experiment(request, pk), is_part=True))


@login_required
@require_GET
def experiment_data(request: HttpRequest, pk: int) -> JsonResponse:
    """Return the chart's data."""
    found = _experiment(request, pk)
    if missing := _missing(request, found):
        return downloads.refusal_of(missing)
    _table, chart = _data_for(request, found)
    return JsonResponse(chart)


@login_required
@require_GET
def experiment_loss(request: HttpRequest, pk: int) -> JsonResponse:
    """Return the charts of loss and jitter against the offered load."""
    found = _experiment(request, pk)
    return JsonResponse(loss.charts_of(loss.sweeps_of(found, toolbox.get_tool(found.tool))))


@login_required
@require_GET
def download(request: HttpRequest, pk: int, ending: str) -> StreamingHttpResponse:
    """Download every sample as CSV or JSON."""
    found = _experiment(request, pk)
    return (downloads.csv_of if ending == "csv" else downloads.json_of)(request, found)


@login_required
@require_GET
def trial(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a trial: parameters, attempts, commands, raw output, facts, samples."""
    found = queries.trial_for(scoping.user_of(request), pk)
    if found is None:
        raise Http404
    tool = toolbox.get_tool(found.experiment.tool)
    metrics = {metric.name: metric for metric in tool.metrics}
    waits.attach_trial_waits([found], request.user, timezone.now())
    attempts = []
    for run in found.runs.all():
        result = getattr(run, "result", None)
        samples = [(metrics[sample.metric], sample.value) for sample in result.samples.all()] if result else []
        samples.sort(key=lambda pair: not pair[0].primary)
        commands = [_command(job) for job in agents.jobs_of_run(run.pk)]
        kept = charts.kept_of(tool, result) if result else []
        clients = charts.clients_of(tool, result) if result else None
        placement = placements.placement_of(result) if result else None
        attempts.append(Attempt(run, commands, result, samples, kept, clients, placement))
    parameters = [
        (parameter, charts.text_of(parameter, found.parameters[parameter.name], {}))
        for parameter in (*tool.parameters, *setting_names.parameters_of(found.parameters).values())
        if parameter.name in found.parameters
    ]
    context = {
        "trial": found,
        "can_write": scoping.can(request.user, found.campaign.team, Role.OPERATOR),
        "has_figures": any(attempt.result for attempt in attempts),
        "tool": tool,
        "parameters": parameters,
        "attempts": attempts,
        "nodes": queries.lane_names(found.experiment)[found.lane_id],
        "history_point": points.point_key(found.parameters),
    }
    return render(request, "results/trial.html", context)


@login_required
@require_GET
def run_series(request: HttpRequest, pk: int) -> JsonResponse:
    """Return a run's time series for its chart."""
    result = get_object_or_404(queries.results_of(scoping.user_of(request)).prefetch_related("series"), run_id=pk)
    return JsonResponse(charts.series_of(result))


@login_required
@require_GET
def job_telemetry(request: HttpRequest, pk: UUID) -> JsonResponse:
    """Return the charts of what the kernel said around a job."""
    job = get_object_or_404(Job.objects.select_related("output"), pk=pk)
    # Whoever sees a run sees what its jobs did, also on nodes of another team.
    get_object_or_404(campaigns.runs_for(scoping.user_of(request)), pk=job.run_ref)
    return JsonResponse(node_charts.charts_of(job))
