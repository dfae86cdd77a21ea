"""REST: who sees a campaign."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import scoping
from apps.accounts.api import get_scoped_or_404
from apps.accounts.models import Team
from apps.campaigns import queries, services
from apps.campaigns.models import Campaign
from apps.core.rest import APIView


class SharingSerializer(serializers.ModelSerializer):
    """Who sees a campaign: `shared_with` short names of teams, `redacted` hides names from the public.

    `preview` is the page as those read it who are not of the team, to look at before it is shared.
    """

    shared_with: Any = serializers.SlugRelatedField(
        slug_field="slug", many=True, queryset=Team.objects.all(), required=False
    )

    preview = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        fields = ["permanent_id", "visibility", "shared_with", "redacted", "licence", "preview"]
        read_only_fields = ["permanent_id"]
        extra_kwargs = {"visibility": {"required": True}}

    def get_preview(self, campaign: Campaign) -> str:
        """Return the address of the page as strangers read it."""
        return reverse("landing:campaign", args=[campaign.permanent_id]) + "?as=stranger"


class CampaignSharing(APIView):
    """Who sees a campaign, and under which licence."""

    @extend_schema(operation_id="campaigns_sharing", responses=SharingSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return who sees it."""
        return Response(SharingSerializer(self._campaign(pk)).data)

    @extend_schema(operation_id="campaigns_share", request=SharingSerializer, responses=SharingSerializer)
    def put(self, request: Request, pk: int) -> Response:
        """Say who sees it."""
        wish = SharingSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        campaign = services.share_campaign(
            campaign=self._campaign(pk), user=scoping.user_of(request), **wish.validated_data
        )
        return Response(SharingSerializer(campaign).data)

    def get_subject(self) -> Campaign:
        """Return the campaign."""
        return self._campaign(self.kwargs["pk"])

    def _campaign(self, pk: int) -> Campaign:
        return get_scoped_or_404(queries.campaigns_for(scoping.user_of(self.request)), pk=pk)
