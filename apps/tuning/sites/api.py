"""REST: the sites that were measured together, and what limits the way to data between two of them."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.models import Role
from apps.bench.rules.base import FindingDraft, as_plain
from apps.bench.rules.layers import Row, Table
from apps.campaigns.api.campaigns import CampaignSerializer
from apps.campaigns.api.told import ToldOfTrialsField
from apps.core import rest
from apps.core.fields import TranslatedField
from apps.results.told import told_among
from apps.tuning.sites import queries, services


class MeasuredSiteSerializer(serializers.Serializer):
    """A site."""

    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    team = serializers.CharField(
        source="foreign_team", default="", read_only=True, help_text="Name of its team if one is no member of that."
    )


class MeasuredTogetherSerializer(serializers.Serializer):
    """Two sites, or one with itself, whose nodes were measured together."""

    a = MeasuredSiteSerializer()
    b = MeasuredSiteSerializer()
    campaigns = serializers.IntegerField()
    last_at = serializers.DateTimeField(allow_null=True)


class LayerRowSerializer(serializers.Serializer):
    """A layer alone, or a file system: its rate in B/s; `ratio` is the share of it that the rate in question has."""

    layer = serializers.CharField()
    subject = serializers.CharField()
    tool = serializers.CharField()
    value = serializers.FloatField()
    n = serializers.IntegerField()
    low = serializers.SerializerMethodField()
    high = serializers.SerializerMethodField()
    ratio = serializers.FloatField(allow_null=True)
    statistic = serializers.CharField(help_text="sample, or what a publication prints: mode, at-least, below, about.")
    is_stated = serializers.BooleanField(help_text="Of the inventory, not measured.")
    is_question = serializers.BooleanField()
    is_limit = serializers.BooleanField()
    note = TranslatedField(help_text="A doubt in the figure.")
    day = serializers.CharField(help_text="When it was measured; empty if nobody knows, or of what is described.")
    is_elsewhen = serializers.BooleanField(help_text="In another campaign than the rate in question.")
    told_by_archive = ToldOfTrialsField()
    trials = serializers.ListField(child=serializers.IntegerField())

    def get_low(self, row: Row) -> float | None:
        """Return the lower end of the interval of 95 %."""
        return row.interval[0] if row.interval else None

    def get_high(self, row: Row) -> float | None:
        """Return the upper end of the interval of 95 %."""
        return row.interval[1] if row.interval else None


class OtherExplanationSerializer(serializers.Serializer):
    """Another explanation that the arithmetic allows, and what would tell them apart."""

    title = TranslatedField()
    test = TranslatedField()
    proposal = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_proposal(self, alternative: Any) -> Any:
        """Return the experiment that decides, if there is one."""
        return as_plain(alternative.proposal)


class LayerTableSerializer(serializers.Serializer):
    """What one file system gives of a metric beside each layer beneath it; `layer` is "" while undecided."""

    file_system = serializers.CharField()
    metric = serializers.CharField()
    clients = serializers.ListField(child=serializers.CharField())
    layer = serializers.CharField()
    verdict = TranslatedField()
    rows = LayerRowSerializer(many=True)
    alternatives = OtherExplanationSerializer(many=True)
    missing = serializers.ListField(child=TranslatedField())
    proposals = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ListField(child=serializers.DictField()))
    def get_proposals(self, table: Table) -> Any:
        """Return the experiments that measure what is missing; `draft` makes them."""
        return as_plain(table.proposals)


class ConclusionSerializer(serializers.Serializer):
    """What the rules say of the pair of sites; `details` holds the whole record."""

    rule = serializers.CharField()
    kind = serializers.CharField()
    subject = serializers.CharField()
    title = TranslatedField()
    why = serializers.ListField(child=TranslatedField())
    against = serializers.ListField(child=TranslatedField())
    confidence = serializers.FloatField()
    details = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField())
    def get_details(self, finding: FindingDraft) -> Any:
        """Return the record as findings store it."""
        return finding.as_json()


class FailedRuleSerializer(serializers.Serializer):
    """A rule that failed on this evidence; what the others say is complete."""

    rule = serializers.CharField()
    version = serializers.IntegerField(help_text="0: not a rule, but what all of the tables are made by.")
    error = serializers.CharField()


class SiteLayersSerializer(serializers.Serializer):
    """Network, disk and file systems between two sites side by side, and what all of it says."""

    a = MeasuredSiteSerializer()
    b = MeasuredSiteSerializer()
    results = serializers.IntegerField(help_text="Valid trials that were read.")
    tables = LayerTableSerializer(many=True)
    findings = ConclusionSerializer(many=True)
    failures = FailedRuleSerializer(many=True, help_text="Rules that failed; what the others say is complete.")


class LackingTableSerializer(serializers.Serializer):
    """Which of `tables`, counted from 0."""

    table = serializers.IntegerField(min_value=0, max_value=10**6)


class SitePairs(rest.ListAPIView):
    """The pairs of sites that the user's teams measured, the last measured first."""

    serializer_class = MeasuredTogetherSerializer
    filter_backends: list[Any] = []

    def get_queryset(self) -> Any:
        """Return sites that were measured together in campaigns that count for the person, the last first."""
        return queries.pairs_for(rights.user_of(self.request))


class SiteLayers(rest.APIView):
    """What limits the way to data between two sites."""

    @extend_schema(operation_id="site_layers_retrieve", responses=SiteLayersSerializer)
    def get(self, request: Request, a: int, b: int) -> Response:
        """Return each layer alone beside the file systems, from the latest results of all campaigns."""
        layers = _layers(request, a, b)
        trials = told_among(trial for table in layers.tables for row in table.rows for trial in row.trials)
        return Response(SiteLayersSerializer(layers, context={"told": trials}).data)


class DraftOfLayers(rest.APIView):
    """What is unmeasured between two sites, as a draft."""

    @extend_schema(
        operation_id="site_layers_draft", request=LackingTableSerializer, responses={201: CampaignSerializer}
    )
    def post(self, request: Request, a: int, b: int) -> Response:
        """Make a draft of the experiments that one table lacks."""
        layers = _layers(request, a, b)
        rights.require(request.user, layers.a.team, Role.OPERATOR)
        wish = LackingTableSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        campaign = services.draft_missing(
            layers=layers, user=rights.user_of(request), now=timezone.now(), **wish.validated_data
        )
        serializer = CampaignSerializer(campaign, context={"request": request})
        return Response(serializer.data, status=status.HTTP_201_CREATED)


def _layers(request: Request, a: int, b: int) -> queries.Layers:
    sites = queries.sites_for(rights.user_of(request), a, b)
    if sites is None:
        raise Http404
    return queries.layers_of(*sites)
