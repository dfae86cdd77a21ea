"""REST: who sees a campaign."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import get_scoped_or_404
from apps.campaigns import queries, services
from apps.campaigns.models import Campaign, Share
from apps.campaigns.services.offers import MOST_OFFERS
from apps.core.rest import APIView


class SharingSerializer(serializers.ModelSerializer):
    """Who sees a campaign: `shared_with` short names of teams, `redacted` hides names from the public.

    A team sees it once it accepts (`GET campaign-offers/`): `accepted` are those that did. Of the others nothing is
    said, not even whether there are such teams. Both are empty for whoever is no member of the campaign's team.
    `preview` is the page as those read it who are not of the team, to look at before it is shared.
    """

    shared_with: Any = serializers.ListField(
        child=serializers.SlugField(max_length=50), max_length=MOST_OFFERS, required=False
    )
    accepted = serializers.SerializerMethodField()
    preview = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        fields = ["permanent_id", "visibility", "shared_with", "accepted", "redacted", "licence", "preview"]
        read_only_fields = ["permanent_id"]
        extra_kwargs = {"visibility": {"required": True}}

    def to_representation(self, campaign: Campaign) -> dict[str, Any]:
        """Return the fields, with the short names that are offered to in the order of the alphabet."""
        campaign.shared_with = [share.name for share in self._offers(campaign)]
        return super().to_representation(campaign)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_accepted(self, campaign: Campaign) -> list[str]:
        """Return the short names of the teams that accepted."""
        return [share.name for share in self._offers(campaign) if share.is_accepted]

    def _offers(self, campaign: Campaign) -> Iterable[Share]:
        """Return whom it is offered to: to whom else is no matter of those who only read it."""
        is_own = rights.role_in(self.context["user"], campaign.team) is not None
        return queries.offers_of(campaign) if is_own else ()

    def get_preview(self, campaign: Campaign) -> str:
        """Return the address of the page as strangers read it."""
        return reverse("landing:campaign", args=[campaign.permanent_id]) + "?as=stranger"


class CampaignSharing(APIView):
    """Who sees a campaign, and under which licence."""

    @extend_schema(operation_id="campaigns_sharing", responses=SharingSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return who sees it."""
        return self._answer(self._campaign(pk))

    @extend_schema(operation_id="campaigns_share", request=SharingSerializer, responses=SharingSerializer)
    def put(self, request: Request, pk: int) -> Response:
        """Say who sees it."""
        wish = SharingSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        campaign = services.share_campaign(
            campaign=self._campaign(pk), user=rights.user_of(request), **wish.validated_data
        )
        return self._answer(campaign)

    def get_subject(self) -> Campaign:
        """Return the campaign that is shared; 404 for one that one may not see."""
        return self._campaign(self.kwargs["pk"])

    def _answer(self, campaign: Campaign) -> Response:
        return Response(SharingSerializer(campaign, context={"user": self.request.user}).data)

    def _campaign(self, pk: int) -> Campaign:
        return get_scoped_or_404(queries.campaigns_for(rights.user_of(self.request)), pk=pk)
