"""REST: campaign templates, to read and to make drafts of."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import permissions, serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import ScopedRelatedField, TeamField, team_for_new
from apps.accounts.permissions import ScopedToken
from apps.campaigns import services
from apps.campaigns.api.campaigns import CampaignSerializer
from apps.campaigns.api.experiments import PlayerSerializer
from apps.campaigns.api.tools import ParameterSerializer
from apps.campaigns.recipes import RECIPES
from apps.core import rest
from apps.core.fields import TranslatedField
from apps.core.names import check_seen
from apps.testbeds.models import FileSystem


class PartSerializer(serializers.Serializer):
    """A part that nodes play; `several` parts take more than one node."""

    name = serializers.CharField()
    label: Any = TranslatedField()
    several = serializers.BooleanField()


class RecipeSerializer(serializers.Serializer):
    """A campaign template: who takes part and what it asks."""

    slug = serializers.CharField()
    name = TranslatedField()
    summary = TranslatedField()
    parts = PartSerializer(many=True)
    parameters = ParameterSerializer(many=True)
    needs_file_system = serializers.BooleanField()


class DraftSerializer(serializers.Serializer):
    """Nodes and values for a template: `players` name its parts as roles, `values` {parameter: text with unit}."""

    team = TeamField()
    name = serializers.CharField(
        required=False, allow_blank=True, max_length=200, default="", validators=[check_seen]
    )
    players = PlayerSerializer(many=True)
    values = serializers.DictField(child=serializers.CharField(allow_blank=True, max_length=1000), required=False)
    file_system = ScopedRelatedField(queryset=FileSystem.objects.all(), required=False, allow_null=True)


_SLUG = OpenApiParameter("slug", str, OpenApiParameter.PATH)


class RecipeViewSet(rest.ViewSet):
    """Campaign templates: procedures of the field, of which drafts are made."""

    permission_classes = [permissions.IsAuthenticated, ScopedToken]
    lookup_field = "slug"

    @extend_schema(responses=RecipeSerializer(many=True))
    def list(self, request: Request) -> Response:
        """Return every template."""
        return Response(RecipeSerializer(RECIPES.values(), many=True).data)

    @extend_schema(parameters=[_SLUG], responses=RecipeSerializer)
    def retrieve(self, request: Request, slug: str) -> Response:
        """Return one template."""
        return Response(RecipeSerializer(_find(slug)).data)

    @extend_schema(parameters=[_SLUG], request=DraftSerializer, responses={201: CampaignSerializer})
    @action(detail=True, methods=["post"])
    def draft(self, request: Request, slug: str) -> Response:
        """Make a draft of a template for chosen nodes."""
        recipe = _find(slug)
        wish = DraftSerializer(data=request.data, context={"request": request, "view": self})
        wish.is_valid(raise_exception=True)
        values: dict[str, Any] = dict(wish.validated_data)
        team = team_for_new(request, values)
        campaign = services.create_from_recipe(
            team=team,
            user=rights.user_of(request),
            now=timezone.now(),
            recipe=recipe.slug,
            players=[services.Player(**part) for part in values["players"]],
            values=values.get("values", {}),
            name=values["name"],
            file_system=values.get("file_system"),
        )
        serializer = CampaignSerializer(campaign, context={"request": request})
        return Response(serializer.data, status=status.HTTP_201_CREATED)


def _find(slug: str) -> Any:
    if slug not in RECIPES:
        raise NotFound
    return RECIPES[slug]
