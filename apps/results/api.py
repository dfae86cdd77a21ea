"""REST: results, samples, and an experiment's table."""

from typing import Any

from django.http import StreamingHttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import get_scoped_or_404
from apps.accounts.filters import RowFilter
from apps.agents import heads
from apps.bench import telemetry
from apps.bench.outputs.documents import weighed_together
from apps.bench.statistics import Mean, assumes_of
from apps.campaigns import queries as campaigns
from apps.campaigns.api.told import ToldField
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.queries.visibility import visible
from apps.core import rest
from apps.core.api import unknown_choices
from apps.results import charts, downloads, intervals, queries, services
from apps.results.models import Result, Sample, StageTiming
from apps.results.theory import theory_of
from apps.toolbox.filters import tool_filter


class SampleSerializer(serializers.ModelSerializer):
    """One figure; it `counts` in statistics unless its trial warmed up, or a flag makes this metric invalid."""

    class Meta:
        model = Sample
        fields = ["metric", "value", "counts"]


class ResultSerializer(serializers.ModelSerializer):
    """The reading of one run."""

    samples = SampleSerializer(many=True, read_only=True)
    told_by_archive = ToldField("told")

    class Meta:
        model = Result
        fields = [
            "id", "run", "trial", "experiment", "tool", "tool_version", "requested", "granted", "observed", "flags",
            "start_skew_s", "recorded_at", "edition", "edition_reason", "edition_at", "told_by_archive", "samples",
        ]  # fmt: skip


class ResultFilter(filters.FilterSet):
    """Filters of results."""

    campaign = RowFilter(campaigns.campaigns_for, field_name="experiment__campaign")
    experiment = RowFilter(campaigns.experiments_for)
    trial = RowFilter(campaigns.trials_for)
    run = RowFilter(campaigns.runs_for)
    tool = tool_filter("tool")
    recorded_after = filters.IsoDateTimeFilter(field_name="recorded_at", lookup_expr="gte")
    recorded_before = filters.IsoDateTimeFilter(field_name="recorded_at", lookup_expr="lt")

    class Meta:
        model = Result
        fields = ["experiment", "trial", "run", "tool", "campaign"]


class ResultViewSet(rest.ReadOnlyModelViewSet):
    """Results of successful runs, each with its samples in base units."""

    queryset = Result.objects.none()
    serializer_class = ResultSerializer
    filterset_class = ResultFilter
    ordering_fields = ["id", "recorded_at"]

    def get_queryset(self):
        """Return the results of campaigns that the user may see."""
        rows = queries.results_of(rights.user_of(self.request)).annotate(told=Campaign.told("experiment__campaign__"))
        return rows.prefetch_related("samples").order_by("id")


class GroupSerializer(serializers.Serializer):
    """One cell of the table: the factor's value and the summary of its samples."""

    x = serializers.JSONField()
    others = serializers.DictField()
    n = serializers.IntegerField()
    mean = serializers.FloatField()
    median = serializers.FloatField()
    stdev = serializers.FloatField(allow_null=True)
    minimum = serializers.FloatField()
    maximum = serializers.FloatField()
    ci_low = serializers.FloatField(allow_null=True)
    ci_high = serializers.FloatField(allow_null=True)
    ci_is_cut = serializers.BooleanField(help_text="Whether it ends where no figure can lie.")
    ci_confidence = serializers.FloatField(
        allow_null=True, help_text="What the interval has, 0 to 1; null: not known."
    )
    ci_method = serializers.ChoiceField(
        choices=intervals.METHODS,
        help_text="“student” is Student's t, wider for 3 to 7 figures, with their lean taken out.",
    )
    ci_assumes = serializers.ChoiceField(
        choices=intervals.ASSUMPTIONS, help_text="What the interval supposes of the figures, “” for nothing."
    )
    flagged = serializers.IntegerField(help_text="How many of the samples have a flag that bears on the metric.")
    flags = serializers.DictField(child=serializers.IntegerField(), help_text="How many of them by flag.")
    trials = serializers.ListField(child=serializers.IntegerField())


class TableSerializer(serializers.Serializer):
    """An experiment's results of one metric by one factor."""

    experiment = serializers.IntegerField()
    told_by_archive = ToldField()
    metric = serializers.CharField()
    unit = serializers.CharField()
    x = serializers.CharField()
    invalid = serializers.IntegerField(help_text="Samples that a flag makes invalid.")
    reasons = serializers.DictField(child=serializers.IntegerField(), help_text="How many of them by flag.")
    left_out = serializers.IntegerField(help_text="Samples that the groups lack for it.")
    mean = serializers.ChoiceField(
        choices=[kind.value for kind in Mean],
        help_text="Which mean the groups have: that of comparisons and reports.",
    )
    groups = GroupSerializer(many=True)


class TimingSerializer(serializers.ModelSerializer):
    """How a stage with a common start began: times in s, overlap as a share."""

    class Meta:
        model = StageTiming
        fields = ["stage", "name", "commands", "started", "skew_s", "late_s", "overlap", "clock_error_s"]


class WatchedFigureSerializer(serializers.Serializer):
    """One figure of a job's time, in its base unit."""

    name = serializers.CharField()
    value = serializers.FloatField()
    unit = serializers.CharField()


class WatchedJobSerializer(serializers.Serializer):
    """What an agent read around a job; `telemetry` is as it sent it, times (s) from the start of the process."""

    job = serializers.UUIDField()
    role = serializers.CharField()
    stage = serializers.IntegerField()
    node = serializers.CharField()
    figures = WatchedFigureSerializer(many=True)
    telemetry = serializers.DictField()


class RunTelemetrySerializer(serializers.Serializer):
    """What the nodes said around a run's jobs."""

    run = serializers.IntegerField()
    told_by_archive = ToldField()
    stages = TimingSerializer(many=True)
    jobs = WatchedJobSerializer(many=True)


class RunTelemetry(rest.APIView):
    """What agents read from the kernel around the jobs of a run, failed runs included, and how its stages began."""

    @extend_schema(operation_id="runs_telemetry", responses=RunTelemetrySerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return it; a job whose agent told nothing is left out."""
        run = get_scoped_or_404(campaigns.runs_for(rights.user_of(request)), pk=pk)
        with weighed_together():
            jobs = heads.shown_jobs_of_run(run.pk)
            telemetries = list(zip(jobs, services.telemetries_of(jobs), strict=True))
        body = {
            "run": run.pk,
            "told_by_archive": run.trial.campaign.is_told,
            "stages": run.timings.all(),
            "jobs": [
                {
                    "job": job.pk,
                    "role": job.role,
                    "stage": job.stage,
                    "node": job.node.name,
                    "figures": telemetry.summarise(telemetry_of_job),
                    "telemetry": raw,
                }
                for job, raw in telemetries
                if (telemetry_of_job := telemetry.read(raw))
            ],
        }
        return Response(RunTelemetrySerializer(body).data)


def _experiment(request: Request, pk: int) -> Experiment:
    experiments = visible(Experiment.objects.select_related("campaign"), request.user, path="campaign")
    return get_scoped_or_404(experiments, pk=pk)


class ExperimentTable(rest.APIView):
    """Mean, median, spread and 95 % interval of a metric by a factor."""

    @extend_schema(
        operation_id="experiments_results",
        parameters=[
            OpenApiParameter("metric", str, description="Name of a metric; the tool's primary one unless given."),
            OpenApiParameter("x", str, description="Name of a factor; the first unless given."),
            OpenApiParameter("invalid", str, enum=["yes"], description="Count invalid samples, too."),
        ],
        responses=TableSerializer,
    )
    def get(self, request: Request, pk: int) -> Response:
        """Return a row for each point with mean, interval and n; 400 names the metrics and factors that there are."""
        experiment = _experiment(request, pk)
        parameters = {name: request.query_params.get(name) for name in ("metric", "x")}
        if missing := charts.missing_of(experiment, **parameters):
            raise unknown_choices(missing)
        table, _chart = charts.data_for(
            experiment,
            **parameters,
            include_invalid=request.query_params.get("invalid") == "yes",
        )
        lanes: dict[Any, str] = queries.lane_names(experiment)
        ceiling = charts.ceiling_of(table.metric.unit, theory_of(experiment))
        ends = [group.interval(table.metric, ceiling) for group in table.groups]

        def shown(factor: str, value: Any) -> Any:
            return lanes.get(value, value) if factor == queries.NODES else value

        body = {
            "experiment": experiment.pk,
            "told_by_archive": experiment.campaign.is_told,
            "metric": table.metric.name,
            "unit": table.metric.unit,
            "x": table.x,
            "invalid": table.invalid,
            "reasons": dict(table.reasons),
            "left_out": table.left_out,
            "mean": table.mean.value,
            "groups": [
                {
                    "x": shown(table.x, group.x),
                    "others": {
                        name: shown(name, value) for name, value in zip(table.others, group.others, strict=True)
                    },
                    "n": group.summary.n,
                    "mean": group.centre.value,
                    "median": group.summary.median,
                    "stdev": group.summary.stdev,
                    "minimum": group.summary.minimum,
                    "maximum": group.summary.maximum,
                    "ci_low": cut.low,
                    "ci_high": cut.high,
                    "ci_is_cut": cut.is_cut,
                    "ci_confidence": group.centre.confidence,
                    "ci_method": group.centre.method.value if group.centre.method else "",
                    "ci_assumes": assumes_of(group.centre.method),
                    "flagged": group.mark.flagged if group.mark else 0,
                    "flags": group.mark.counts if group.mark else {},
                    "trials": [figure.trial for figure in group.figures],
                }
                for group, cut in zip(table.groups, ends, strict=True)
            ],
        }
        return Response(TableSerializer(body).data)


class SamplesAsCsv(rest.APIView):
    """Every sample of an experiment as CSV, streamed."""

    @extend_schema(operation_id="experiments_samples_csv", responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def get(self, request: Request, pk: int) -> StreamingHttpResponse:
        """Return the file."""
        return downloads.csv_of(request, _experiment(request, pk))


class SamplesAsJson(rest.APIView):
    """Every sample of an experiment as one JSON array, streamed."""

    @extend_schema(
        operation_id="experiments_samples_json",
        responses={(200, "application/json"): {"type": "array", "items": {"type": "object"}}},
    )
    def get(self, request: Request, pk: int) -> StreamingHttpResponse:
        """Return the file."""
        return downloads.json_of(request, _experiment(request, pk))
