"""REST: tags and notes of campaigns."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import get_scoped_or_404
from apps.accounts.filters import RowFilter
from apps.campaigns import queries as campaigns
from apps.campaigns.api.experiments import ScopedCampaignField, refuse_other_campaign
from apps.campaigns.models import Campaign, Note
from apps.campaigns.queries import notes as queries
from apps.campaigns.services import notes as services
from apps.core import rest


class TagsSerializer(serializers.Serializer):
    """The tags of a campaign: short words in small letters."""

    tags = serializers.ListField(child=serializers.CharField(max_length=200))


class NoteSerializer(serializers.ModelSerializer):
    """A note on a campaign; `told_by` is whose only an archive says it is, "" of what was written here."""

    campaign: Any = ScopedCampaignField(queryset=Campaign.objects.filter(deleting_at=None), path="")
    created_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)

    class Meta:
        model = Note
        fields = ["id", "campaign", "text", "created_by", "told_by", "created_at", "updated_at"]
        read_only_fields = ["told_by"]


class CampaignTags(rest.APIView):
    """The tags of a campaign."""

    @extend_schema(operation_id="campaign_tags", responses=TagsSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the tags in their order; 404 for a campaign that one may not see."""
        return Response({"tags": self._campaign(request, pk).tags})

    @extend_schema(operation_id="campaign_tags_set", request=TagsSerializer, responses=TagsSerializer)
    def put(self, request: Request, pk: int) -> Response:
        """Give the campaign these tags instead."""
        campaign = self._campaign(request, pk)
        wish = TagsSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        campaign = services.set_tags(
            campaign=campaign, user=rights.user_of(request), tags=wish.validated_data["tags"]
        )
        return Response({"tags": campaign.tags})

    def get_subject(self) -> Campaign:
        """Return the campaign that is tagged; 404 for one that one may not see."""
        return self._campaign(self.request, self.kwargs["pk"])

    def _campaign(self, request: Request, pk: int) -> Campaign:
        campaign: Campaign = get_scoped_or_404(campaigns.campaigns_for(rights.user_of(request)), pk=pk)
        return campaign


class NoteFilter(filters.FilterSet):
    """By campaign."""

    campaign = RowFilter(campaigns.campaigns_for)

    class Meta:
        model = Note
        fields = ["campaign"]


class NoteViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.CreateModelMixin,
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    rest.GenericViewSet,
):
    """Notes on campaigns; who wrote one, and managers, change it."""

    queryset = Note.objects.none()
    serializer_class = NoteSerializer
    filterset_class = NoteFilter
    search_fields = ["text"]
    ordering_fields = ["id", "created_at"]

    def get_queryset(self) -> QuerySet[Note]:
        """Return the notes of the campaigns that the person sees."""
        return queries.notes_for(rights.user_of(self.request)).order_by("pk")

    def perform_create(self, serializer: Any) -> None:
        """Add the note."""
        data, user = serializer.validated_data, rights.user_of(self.request)
        campaign = get_scoped_or_404(campaigns.campaigns_for(user), pk=data["campaign"].pk)
        serializer.instance = services.add_note(campaign=campaign, user=user, text=data["text"])

    def perform_update(self, serializer: Any) -> None:
        """Change what the note says; it stays with its campaign."""
        refuse_other_campaign(serializer)
        text = serializer.validated_data.get("text")
        services.change_note(note=serializer.instance, user=rights.user_of(self.request), text=text)

    def perform_destroy(self, instance: Note) -> None:
        """Delete the note."""
        services.delete_note(note=instance, user=rights.user_of(self.request))
