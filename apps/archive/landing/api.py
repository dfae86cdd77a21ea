"""REST: what a permanent id stands for, also for who is not signed in where that is public."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from apps.archive.landing import citation, description, recipes
from apps.archive.landing.redaction import names_for
from apps.campaigns import brought_in, permanent_ids, queries
from apps.campaigns.api.brought_in import BroughtInSerializer
from apps.campaigns.api.told import ToldField
from apps.campaigns.models import Campaign, Tombstone
from apps.core.rest import APIView


class CitationSerializer(serializers.Serializer):
    """How to cite it."""

    plain = serializers.CharField()
    bibtex = serializers.CharField()


class LandingSerializer(serializers.Serializer):
    """A campaign as its permanent id shows it; `redacted` if names and addresses are hidden from the reader."""

    permanent_id = serializers.CharField()
    url = serializers.CharField()
    name = serializers.CharField()
    goal = serializers.CharField()
    team = serializers.CharField()
    visibility = serializers.CharField()
    licence = serializers.CharField()
    redacted = serializers.BooleanField()
    brought_in = BroughtInSerializer(allow_null=True)
    told_by_archive = ToldField()
    launched_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    citation = CitationSerializer()
    recipe = serializers.CharField()


class TombstoneSerializer(serializers.Serializer):
    """What is left of a deleted campaign."""

    permanent_id = serializers.CharField()
    name = serializers.CharField()
    reason = serializers.CharField()
    deleted_at = serializers.DateTimeField()
    deleted_by = serializers.CharField(source="deleted_by_name")
    trials = serializers.IntegerField()


class PermanentId(APIView):
    """What a permanent id stands for."""

    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="permanent_ids_retrieve",
        auth=[],
        parameters=[
            OpenApiParameter("as", str, enum=["stranger"], description="As those read it who are not of its team.")
        ],
        responses={200: LandingSerializer, 410: TombstoneSerializer},
    )
    def get(self, request: Request, permanent_id: str) -> Response:
        """Return the campaign; 410 with who deleted it, when and why if it is gone."""
        normal_id = permanent_ids.normalise(permanent_id)
        campaigns = Campaign.objects.filter(deleting_at=None, permanent_id=normal_id).select_related(
            "team", "created_by"
        )
        campaign = queries.readable(campaigns, request.user).first()
        if campaign is not None:
            return Response(LandingSerializer(_shown(request, campaign)).data)
        stone = queries.readable(Tombstone.objects.filter(permanent_id=normal_id), request.user).first()
        if stone is None:
            raise Http404
        names = names_for(stone, whole=queries.visible(Tombstone.objects.filter(pk=stone.pk), request.user).exists())
        tombstone = TombstoneSerializer(stone).data | description.tombstone_texts(stone, names)
        return Response(tombstone, status=status.HTTP_410_GONE)


def _shown(request: Request, campaign: Campaign) -> dict[str, Any]:
    as_stranger = request.query_params.get("as") == "stranger"
    names = names_for(campaign, whole=not as_stranger and queries.sees_whole(campaign, request.user))
    url = request.build_absolute_uri(reverse("landing:campaign", args=[campaign.permanent_id]))
    return {
        "permanent_id": campaign.permanent_id,
        "url": url,
        "name": names.text(campaign.name),
        "goal": names.text(campaign.goal),
        "team": campaign.team.name,
        "visibility": campaign.visibility,
        "licence": campaign.licence,
        "redacted": names.hidden,
        "brought_in": brought_in.read(campaign.brought_in, is_hidden=names.hidden),
        "told_by_archive": campaign.is_told,
        "launched_at": campaign.launched_at,
        "finished_at": campaign.finished_at,
        "citation": citation.cite(campaign, names, url),
        "recipe": recipes.recipe_text(campaign, names),
    }
