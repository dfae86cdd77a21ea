"""REST: which file system serves a described workload, and the draft that measures just that."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import ScopedRelatedField, TeamField, team_for_new
from apps.accounts.models import Role, Team
from apps.bench.rules.base import as_plain
from apps.bench.rules.workloads import ANSWERS, PATTERNS, Fit
from apps.campaigns.api.campaigns import CampaignSerializer
from apps.campaigns.api.told import ToldOfTrialsField
from apps.core.errors import ConflictError
from apps.core.fields import TranslatedField
from apps.core.rest import APIView
from apps.results.told import told_among
from apps.testbeds.api.fields import QuantityValueField
from apps.testbeds.models import FileSystem
from apps.tuning.workloads import descriptions, queries, services


class WorkloadSerializer(serializers.Serializer):
    """What an application does to its files, all nodes at once: sizes in B, the rate needed in B/s."""

    team = TeamField()
    pattern = serializers.ChoiceField(choices=PATTERNS)
    file_size = QuantityValueField("size", required=True, allow_null=False)
    nodes = serializers.IntegerField(min_value=1, max_value=descriptions.MOST_NODES, default=1)
    tasks = serializers.IntegerField(
        min_value=1, max_value=descriptions.MOST_TASKS, default=1, help_text="On each node."
    )
    record_size = QuantityValueField("size", help_text="Bytes of each call; large unless given.")
    shared = serializers.BooleanField(default=False, help_text="All tasks share one file.")
    total = QuantityValueField("size", help_text="Bytes in all: tells how long it takes.")
    wanted = QuantityValueField("byte-rate", help_text="Of all nodes together.")
    file_system = ScopedRelatedField(
        queryset=FileSystem.objects.all(), required=False, allow_null=True, help_text="Limits the choice to one."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse what no application does, and a file system of another team."""
        attrs["team"] = team_for_new(self.context["request"], attrs, Role.VIEWER)
        problems = descriptions.problems_of(attrs)
        if problems:
            raise serializers.ValidationError({name: [text] for name, text in problems.items()})
        return attrs


class ChosenFitSerializer(WorkloadSerializer):
    """A workload, and which of its fits is measured, counted from 0."""

    fit = serializers.IntegerField(min_value=0, max_value=10**6)


class FitSerializer(serializers.Serializer):
    """A configuration for the workload: the rate of all nodes (B/s) with its range, of each, and the time (s)."""

    file_system = serializers.CharField()
    settings = serializers.DictField()
    rate = serializers.FloatField()
    low = serializers.FloatField(allow_null=True, help_text="None of a lone figure, whose scatter nobody knows.")
    high = serializers.FloatField(allow_null=True)
    each = serializers.FloatField()
    seconds = serializers.FloatField(allow_null=True)
    basis = serializers.CharField(help_text="measured, computed of what was measured, between it, or beyond it.")
    serves = serializers.BooleanField(allow_null=True)
    answer = serializers.ChoiceField(
        choices=ANSWERS, allow_blank=True, help_text="Of the rate wanted: what is doubtful may serve at most."
    )
    confidence = serializers.FloatField()
    told_by_archive = ToldOfTrialsField()
    trials = serializers.ListField(child=serializers.IntegerField())
    why = serializers.ListField(child=TranslatedField())
    doubts = serializers.ListField(child=TranslatedField())
    proposal = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_proposal(self, fit: Fit) -> Any:
        """Return the experiment that measures just this, if there are nodes enough."""
        return as_plain(fit.proposal)


FITS = {200: FitSerializer(many=True), 409: OpenApiResponse(description="What was measured cannot be computed with.")}


class FitOfWorkload(APIView):
    """Which file system, used how, serves a workload, and what it will get."""

    @extend_schema(operation_id="workload_fits", parameters=[WorkloadSerializer], responses=FITS)
    def get(self, request: Request) -> Response:
        """Return the configurations that were measured, the best first."""
        described = _described(WorkloadSerializer, request, request.query_params)
        fits = _fits(described)
        trials = told_among(trial for fit in fits for trial in fit.trials)
        return Response(FitSerializer(fits, many=True, context={"told": trials}).data)


class DraftOfWorkload(APIView):
    """A workload's measurement, as a draft."""

    @extend_schema(operation_id="workload_draft", request=ChosenFitSerializer, responses={201: CampaignSerializer})
    def post(self, request: Request) -> Response:
        """Make a draft of the campaign that measures the workload on one of its fits."""
        described = _described(ChosenFitSerializer, request, request.data)
        team: Team = described["team"]
        rights.require(request.user, team, Role.OPERATOR)
        campaign = services.draft_fit(
            team=team,
            fits=_fits(described),
            place=described["fit"],
            user=rights.user_of(request),
            now=timezone.now(),
        )
        serializer = CampaignSerializer(campaign, context={"request": request})
        return Response(serializer.data, status=status.HTTP_201_CREATED)


def _described(kind: type[WorkloadSerializer], request: Request, data: Any) -> dict[str, Any]:
    wish = kind(data=data, context={"request": request})
    wish.is_valid(raise_exception=True)
    return dict(wish.validated_data)


def _fits(described: dict[str, Any]) -> tuple[Fit, ...]:
    fits, failure = queries.fits_of(described["team"], descriptions.workload_of(described))
    if failure:
        raise ConflictError(failure)
    return fits
