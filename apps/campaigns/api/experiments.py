"""REST: experiments."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import ScopedRelatedField, TeamScopedViewSet
from apps.accounts.filters import RowFilter
from apps.accounts.models import Role
from apps.campaigns import queries, services
from apps.campaigns.api.previews import PreviewSerializer
from apps.campaigns.expansion import MOST_NODES
from apps.campaigns.models import Campaign, Experiment, ExperimentRole
from apps.campaigns.turns import sweep_turn
from apps.core import etags, messages
from apps.core.entries import ReferringRows
from apps.testbeds.models import Cluster, FileSystem, Node
from apps.toolbox.filters import tool_filter


class FactorSerializer(serializers.Serializer):
    """A parameter to sweep and its values, such as ``64KiB..16MiB x2``."""

    name = serializers.CharField(max_length=100)
    expression = serializers.CharField(max_length=10_000)


class ScopedCampaignField(ScopedRelatedField):
    """A campaign, or something of one (`path` leads to it), that the person may see."""

    def narrow(self, rows: QuerySet) -> QuerySet:
        """Return what belongs to campaigns that the person may see."""
        return queries.visible(rows, self.context["request"].user, path=self.path)


class PlayerRows(ReferringRows):
    """Who plays the roles of an experiment: as many entries as a trial may have nodes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"max_length": MOST_NODES, **kwargs})


class PlayerSerializer(serializers.ModelSerializer):
    """Who plays a role: a node, or a cluster whose nodes take it in turn."""

    node = ScopedRelatedField(queryset=Node.objects.all(), required=False, allow_null=True)
    cluster = ScopedRelatedField(queryset=Cluster.objects.all(), required=False, allow_null=True)

    class Meta:
        model = ExperimentRole
        list_serializer_class = PlayerRows
        fields = ["role", "node", "cluster"]

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse both and neither."""
        if bool(attrs.get("node")) == bool(attrs.get("cluster")):
            raise serializers.ValidationError("Give either a node or a cluster.")
        return attrs


class ExperimentSerializer(serializers.ModelSerializer):
    """One tool and a sweep over its parameters, as texts with units."""

    campaign = ScopedCampaignField(queryset=Campaign.objects.select_related("team"), path="")
    roles = PlayerSerializer(many=True)
    fixed = serializers.DictField(child=serializers.CharField(allow_blank=True, max_length=1000), required=False)
    factors = FactorSerializer(many=True, required=False)
    zips = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(max_length=100)), required=False
    )
    exclusions = serializers.ListField(child=serializers.CharField(max_length=1000), required=False)
    file_system = ScopedRelatedField(queryset=FileSystem.objects.all(), required=False, allow_null=True)
    after = ScopedCampaignField(queryset=Experiment.objects.all(), path="campaign", required=False, allow_null=True)
    resolved = serializers.DictField(child=serializers.CharField(), read_only=True)
    state = serializers.ChoiceField(source="stage", choices=Experiment.Stage.choices, read_only=True)
    refusal = serializers.SerializerMethodField()

    class Meta:
        model = Experiment
        fields = [
            "id", "campaign", "position", "name", "tool", "roles", "fixed", "factors", "zips", "exclusions",
            "repetitions", "warmups", "order", "seed", "max_attempts", "retry_wait_s", "file_system", "context",
            "after", "precision", "most_repetitions", "search_factor", "search_goal", "search_budget",
            "state", "resolved", "refusal", "created_at", "updated_at",
        ]  # fmt: skip

    def get_refusal(self, experiment: Experiment) -> str:
        """Return why no trials could be made of it, in the reader's language; empty if that did not happen."""
        return messages.render(experiment.refusal)


class ExperimentFilter(filters.FilterSet):
    """By campaign and tool."""

    campaign = RowFilter(queries.campaigns_for)
    tool = tool_filter("tool")

    class Meta:
        model = Experiment
        fields = ["campaign", "tool"]


class ExperimentViewSet(TeamScopedViewSet):
    """Experiments of the person's teams; only those of drafts can be changed."""

    queryset = Experiment.objects.select_related("campaign__team").prefetch_related("roles__node", "roles__cluster")
    serializer_class = ExperimentSerializer
    team_path = "campaign__team"
    filterset_class = ExperimentFilter
    search_fields = ["name"]
    ordering_fields = ["id", "position", "name"]
    actions_in_team = frozenset({"create", "preview_new"})
    late_conditions = frozenset({"update", "partial_update"})

    def narrow(self, rows: QuerySet) -> QuerySet:
        """Return the experiments of the campaigns that the person may see."""
        return queries.visible(rows, self.request.user, path="campaign")

    def perform_create(self, serializer: serializers.BaseSerializer) -> None:
        """Add an experiment to a draft."""
        values = _values_of(serializer)
        serializer.instance = services.create_experiment(user=rights.user_of(self.request), **values)

    def perform_update(self, serializer: Any) -> None:
        """Change an experiment of a draft; its campaign stays."""
        refuse_other_campaign(serializer)
        values = _values_of(serializer)
        experiment = services.update_experiment(
            experiment=serializer.instance,
            user=rights.user_of(self.request),
            once_held=lambda: etags.refuse_stale(self, self.request),
            **values,
        )
        serializer.instance = self.get_queryset().get(pk=experiment.pk)

    def perform_destroy(self, instance: Experiment) -> None:
        """Take an experiment out of a draft."""
        services.delete_experiment(experiment=instance, user=rights.user_of(self.request))

    @extend_schema(responses=PreviewSerializer)
    @action(detail=True, url_path="preview")
    def preview(self, request: Request, pk: str) -> Response:
        """Say what the experiment comes to: trials, points, time, bytes on each link."""
        experiment = self.get_object()
        return _preview(request, experiment, list(experiment.roles.all()))

    @extend_schema(request=ExperimentSerializer, responses=PreviewSerializer)
    @action(detail=False, methods=["post"], url_path="preview")
    def preview_new(self, request: Request) -> Response:
        """Say what an experiment would come to, without keeping it."""
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = _values_of(serializer)
        roles = values.pop("roles")
        rights.require(request.user, values["campaign"].team, Role.OPERATOR)
        experiment = Experiment(**values)
        return _preview(request, experiment, services.players_of(experiment, roles))


def refuse_other_campaign(serializer: Any) -> None:
    """Raise a ValidationError if the request would move something to another campaign."""
    campaign = serializer.validated_data.pop("campaign", None)
    if campaign is not None and campaign != serializer.instance.campaign:
        raise serializers.ValidationError({"campaign": [_("It stays in its campaign: make a new one in the other.")]})


def _values_of(serializer: serializers.BaseSerializer) -> dict[str, Any]:
    values = dict(serializer.validated_data)
    if "roles" in values:
        values["roles"] = [services.Player(**part) for part in values["roles"]]
    return values


def _preview(request: Request, experiment: Experiment, roles: list[ExperimentRole]) -> Response:
    with sweep_turn(rights.user_of(request)):
        expansion = services.check_experiment(experiment, roles)
        preview = queries.preview_experiment(expansion, now=timezone.now())
        return Response(PreviewSerializer(preview).data)
