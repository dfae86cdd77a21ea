"""REST: campaigns that other teams offer to one's own."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.rights import user_of
from apps.campaigns import queries
from apps.campaigns.models import Share
from apps.campaigns.services import offers
from apps.core import rest


class CampaignOfferSerializer(serializers.ModelSerializer):
    """What a team is told of an offer; `campaign` is its id once it is accepted, null before.

    The names are what the other team chose to call itself and the campaign.
    """

    team = serializers.CharField(source="name", read_only=True, help_text="Short name of one's own team.")
    offered_by = serializers.CharField(source="campaign.team.name", read_only=True, help_text="The team's name.")
    campaign_name = serializers.CharField(source="campaign.name", read_only=True)
    campaign = serializers.SerializerMethodField()
    state: Any = serializers.ChoiceField(choices=["offered", "accepted"], read_only=True)
    offered_at = serializers.DateTimeField(source="created_at", read_only=True)

    class Meta:
        model = Share
        fields = ["id", "team", "offered_by", "campaign", "campaign_name", "state", "offered_at"]

    def get_campaign(self, share: Share) -> int | None:
        """Return the campaign that the team may look at."""
        return share.campaign_id if share.is_accepted else None


class OfferViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, rest.GenericViewSet):
    """Campaigns offered to the teams of who asks: their operators accept, decline, or let go of what was accepted."""

    queryset = Share.objects.none()
    serializer_class = CampaignOfferSerializer
    filterset_fields = ["state"]
    search_fields = ["campaign__name", "campaign__team__name"]
    ordering_fields = ["id", "created_at"]

    def get_queryset(self) -> QuerySet[Share]:
        """Return what waits or was accepted."""
        return queries.offers_to(user_of(self.request))

    @extend_schema(request=None, responses=CampaignOfferSerializer)
    @action(detail=True, methods=["post"])
    def accept(self, request: Request, pk: str) -> Response:
        """See the campaign, and count its figures with the team's own; the answer is the offer as it then is."""
        row = offers.accept(share=self.get_object(), user=user_of(request), now=timezone.now())
        return Response(CampaignOfferSerializer(row).data)

    @extend_schema(request=None, responses={status.HTTP_204_NO_CONTENT: None})
    @action(detail=True, methods=["post"])
    def decline(self, request: Request, pk: str) -> Response:
        """Refuse the campaign, or let go of one that was accepted: it is hidden at once.

        The other team is not told, and no new offer of it is shown for seven days.
        """
        offers.decline(share=self.get_object(), user=user_of(request), now=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)
