"""REST: trials and runs, to read."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.functional import cached_property
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.accounts import rights
from apps.accounts.filters import RowFilter
from apps.campaigns import queries
from apps.campaigns.api.told import ToldField
from apps.campaigns.api.waits import WaitSerializer, trial_wait
from apps.campaigns.models import Campaign, Run, Trial
from apps.campaigns.waits import attach_trial_waits
from apps.core import messages, rest
from apps.testbeds.models import Node
from apps.testbeds.queries.readers import of_own_nodes
from apps.toolbox import queries as toolbox
from apps.toolbox.filters import tool_filter


class ReasonSerializer(serializers.Serializer):
    """Why there is no result: a code, what happened, what to do."""

    code = serializers.CharField()
    message = serializers.SerializerMethodField()
    remedy = serializers.SerializerMethodField()
    retryable = serializers.BooleanField()

    def get_message(self, reason: dict[str, Any]) -> str:
        """Return what happened, in the reader's language."""
        return messages.render(reason["message"])

    def get_remedy(self, reason: dict[str, Any]) -> str:
        """Return what to do, in the reader's language."""
        return messages.render(reason.get("remedy"))


class TrialSerializer(serializers.ModelSerializer):
    """One point, one repetition; `nodes` {role: [node ids]}, `parameters` in base units."""

    nodes = serializers.DictField(source="lane.roles", read_only=True)
    parameters = serializers.SerializerMethodField(
        help_text="In base units. Of an import those are null that nobody told: they are not known. Trials that have"
        " the same `unknown_as_in` were said to be alike in these."
    )
    reason = ReasonSerializer(read_only=True, allow_null=True)
    waiting = serializers.SerializerMethodField()
    told_by_archive = ToldField("campaign.is_told")

    class Meta:
        model = Trial
        fields = [
            "id", "campaign", "experiment", "position", "point", "repetition", "is_warmup", "nodes", "parameters",
            "state", "waiting", "attempts", "attempts_allowed", "not_before", "estimate_s", "reason", "finished_at",
            "told_by_archive",
        ]  # fmt: skip

    @extend_schema_field(serializers.DictField())
    def get_parameters(self, trial: Trial) -> dict[str, Any]:
        """Return what the trial was measured with, null for what is not known."""
        if trial.campaign.origin != Campaign.Origin.IMPORTED:
            return dict(trial.parameters)
        names = [parameter.name for parameter in toolbox.get_tool(trial.experiment.tool).parameters]
        return {**dict.fromkeys(names), **trial.parameters}

    @extend_schema_field(WaitSerializer(allow_null=True))
    def get_waiting(self, trial: Trial) -> dict[str, Any] | None:
        """Return why the trial waits, null if it does not."""
        if not hasattr(trial, "wait"):
            attach_trial_waits([trial], self.context["request"].user, timezone.now())
        return trial_wait(trial.wait)


class RunSerializer(serializers.ModelSerializer):
    """One attempt at a trial; `plan` holds the commands of each stage, and is read by the team of their nodes."""

    plan = serializers.SerializerMethodField()
    reason = ReasonSerializer(read_only=True, allow_null=True)

    class Meta:
        model = Run
        fields = [
            "id", "experiment", "trial", "attempt", "state", "stage", "plan", "reason", "started_at", "ended_at",
        ]  # fmt: skip

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_plan(self, run: Run) -> dict[str, Any] | None:
        """Return the plan, null where it is other teams' nodes that run it."""
        used = {node for members in run.trial.lane.roles.values() for node in members}
        return run.plan if used <= self._own_nodes else None

    @cached_property
    def _own_nodes(self) -> set[int]:
        user = rights.user_of(self.context["request"])
        return set(of_own_nodes(Node.objects.all(), user, path="").values_list("pk", flat=True))


class TrialFilter(filters.FilterSet):
    """By campaign, experiment, tool, state, point, repetition, and whether it is a warm-up."""

    campaign = RowFilter(queries.campaigns_for)
    experiment = RowFilter(queries.experiments_for)
    tool = tool_filter("experiment__tool")
    point = filters.NumberFilter(min_value=0)
    repetition = filters.NumberFilter(min_value=0)

    class Meta:
        model = Trial
        fields = ["campaign", "experiment", "state", "point", "repetition", "is_warmup"]


class RunFilter(filters.FilterSet):
    """By campaign, experiment, trial, state and attempt, which counts from 1."""

    campaign = RowFilter(queries.campaigns_for, field_name="experiment__campaign")
    experiment = RowFilter(queries.experiments_for)
    trial = RowFilter(queries.trials_for)
    attempt = filters.NumberFilter(min_value=1)

    class Meta:
        model = Run
        fields = ["trial", "state", "attempt"]


class TrialViewSet(rest.ReadOnlyModelViewSet):
    """Trials of the person's teams."""

    queryset = Trial.objects.none()
    serializer_class = TrialSerializer
    filterset_class = TrialFilter
    ordering_fields = ["id", "position", "point", "finished_at"]

    def get_queryset(self) -> QuerySet[Trial]:
        """Return the trials of the person's teams in the order in which they are carried out."""
        return queries.trials_for(rights.user_of(self.request)).order_by("experiment_id", "position")

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page of trials with why they wait."""
        page = super().paginate_queryset(queryset)
        attach_trial_waits(page or [], self.request.user, timezone.now())
        return page


class RunViewSet(rest.ReadOnlyModelViewSet):
    """Attempts at trials of the person's teams."""

    queryset = Run.objects.none()
    serializer_class = RunSerializer
    filterset_class = RunFilter
    ordering_fields = ["id", "started_at"]

    def get_queryset(self) -> QuerySet[Run]:
        """Return the runs of the person's teams."""
        return queries.runs_for(rights.user_of(self.request)).select_related("trial__lane").order_by("id")
