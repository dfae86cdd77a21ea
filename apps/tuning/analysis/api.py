"""REST: how the analyses of campaigns stand, which rules failed, and asking again."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import get_scoped_or_404
from apps.campaigns.models import Campaign
from apps.campaigns.queries.visibility import visible
from apps.core import messages, rest
from apps.tuning import untold
from apps.tuning.analysis import queries, services
from apps.tuning.analysis.queries import Standing
from apps.tuning.models import RuleFailure


class RuleFailureSerializer(serializers.ModelSerializer):
    """A rule that failed, for how many pairs of ends (`places`), and since when."""

    class Meta:
        model = RuleFailure
        fields = ["rule", "rule_version", "error", "places", "first_at", "last_at"]


class AnalysisSerializer(serializers.Serializer):
    """Whether conclusions were drawn from a campaign's results; if not, which rules failed, and what next."""

    campaign = serializers.IntegerField(source="campaign.pk")
    state = serializers.ChoiceField(choices=queries.STATES)
    error = serializers.SerializerMethodField(help_text="Why it failed as a whole; empty if it did not.")
    failures = RuleFailureSerializer(many=True)
    attempts = serializers.IntegerField()
    ended_at = serializers.DateTimeField(allow_null=True)
    next_at = serializers.DateTimeField(allow_null=True, help_text="When it is tried again by itself.")
    lines = serializers.SerializerMethodField(help_text="What is to be said of it, in the reader's language.")

    silent = serializers.SerializerMethodField(
        help_text="That rules found nothing since what they read of the runs is not known; empty if they could look."
    )

    def get_silent(self, standing: Standing) -> str:
        """Return which parameters are not known, in the reader's language; silence of rules is no answer."""
        message = untold.silent_for_a_page(standing.campaign) if standing.is_done else None
        return messages.render(message)

    def get_error(self, standing: Standing) -> str:
        """Return why, in the reader's language."""
        return messages.render(standing.error)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_lines(self, standing: Standing) -> list[str]:
        """Return the state in words; nothing of one that is done."""
        return [messages.render(line) for line in standing.lines]


class UnfinishedAnalyses(rest.ListAPIView):
    """Analyses that wait or failed."""

    serializer_class = AnalysisSerializer
    filter_backends: list[Any] = []
    pagination_class = None

    @extend_schema(operation_id="analyses_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the analyses of ended campaigns that wait or failed, a few, the latest first."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> Any:
        """Return analyses that wait or failed, the latest few of ended campaigns that count for the person."""
        return queries.unfinished_for(rights.user_of(self.request))


class AnalysisOfCampaign(rest.APIView):
    """How the analysis of a campaign stands."""

    @extend_schema(operation_id="analyses_retrieve", responses=AnalysisSerializer)
    def get(self, request: Request, campaign: int) -> Response:
        """Return the state, and the rules that failed."""
        return Response(AnalysisSerializer(queries.standing_of(_campaign(request, campaign))).data)


class RetryAnalysis(rest.APIView):
    """The analysis of a campaign, carried out again."""

    @extend_schema(
        operation_id="analyses_retry",
        request=None,
        responses={200: AnalysisSerializer, 409: OpenApiResponse(description="It goes on, or waits anyway.")},
    )
    def post(self, request: Request, campaign: int) -> Response:
        """Ask for it again; operators of the team may."""
        campaign_row = _campaign(request, campaign)
        services.retry_analysis(campaign=campaign_row, user=rights.user_of(request))
        campaign_row.refresh_from_db()
        return Response(AnalysisSerializer(queries.standing_of(campaign_row)).data)


def _campaign(request: Request, pk: int) -> Campaign:
    in_sight = visible(Campaign.objects.filter(deleting_at=None), request.user).select_related("team")
    return get_scoped_or_404(in_sight, pk=pk)
