"""REST: the whole inventory of a team as one YAML file."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import permissions, serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import TeamField, team_for_new
from apps.accounts.models import Role, Team
from apps.accounts.permissions import ScopedToken
from apps.core.json_answers import Renderer
from apps.core.json_bodies import JSONParser
from apps.core.rest import APIView
from apps.testbeds import inventory, services


class YamlParser(BaseParser):
    """Takes the body as the file; the other values then stand in the address."""

    media_type = "application/yaml"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> dict[str, Any]:
        """Return the file's text beside the values of the address."""
        # One byte more than is allowed, so that a larger file is known as such without reading it.
        text = inventory.decode(stream.read(inventory.MOST_BYTES + 1))
        return {**parser_context["request"].query_params.dict(), "inventory": text}


class ExampleSerializer(serializers.Serializer):
    """Into which team."""

    team = TeamField()


class ImportSerializer(ExampleSerializer):
    """A file, and whether only to say what it would do."""

    inventory = serializers.CharField(trim_whitespace=False, allow_blank=True)
    dry_run = serializers.BooleanField(default=False)


class DifferenceSerializer(serializers.Serializer):
    """A field before and after, as the file writes it; null where it is empty."""

    field = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)


class ChangeSerializer(serializers.Serializer):
    """What was done to one thing; `action` is created or changed."""

    action = serializers.CharField()
    kind = serializers.CharField(source="item._meta.model_name")
    name = serializers.CharField(source="item")
    differences = DifferenceSerializer(many=True)


class ImportedSerializer(serializers.Serializer):
    """What an import did, or would do."""

    dry_run = serializers.BooleanField()
    created = serializers.IntegerField()
    changed = serializers.IntegerField()
    same = serializers.IntegerField()
    changes = ChangeSerializer(many=True)


def _summary(changes: list[inventory.ItemChange], *, dry_run: bool) -> Response:
    counts = {
        action: sum(change.action == action for change in changes)
        for action in (inventory.CREATED, inventory.CHANGED, inventory.SAME)
    }
    done = [change for change in changes if change.action != inventory.SAME]
    return Response(ImportedSerializer({"dry_run": dry_run, **counts, "changes": done}).data)


class InventoryView(APIView):
    """A team's inventory as one file, out and in."""

    permission_classes = [permissions.IsAuthenticated, ScopedToken]
    parser_classes = [YamlParser, JSONParser]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[Any, str]:
        """Answer whatever is asked for: a file is YAML, all else JSON."""
        return Renderer(), Renderer.media_type

    @extend_schema(
        operation_id="inventory_export",
        parameters=[OpenApiParameter("team", str, description="Short name; your only team unless given.")],
        responses={(200, "application/yaml"): OpenApiTypes.OBJECT},
    )
    def get(self, request: Request) -> HttpResponse:
        """Return the file."""
        text = inventory.export_inventory(team=self._team_to_read(request))
        return HttpResponse(text, content_type="application/yaml; charset=utf-8")

    @extend_schema(
        operation_id="inventory_import",
        parameters=[
            OpenApiParameter("team", str, description="With a YAML body: the team's short name."),
            OpenApiParameter("dry_run", bool, description="With a YAML body: only say what would be done."),
        ],
        request={"application/json": ImportSerializer, "application/yaml": OpenApiTypes.OBJECT},
        responses={
            200: ImportedSerializer,
            400: OpenApiResponse(description="Every line that is wrong; nothing was stored."),
        },
    )
    def post(self, request: Request) -> Response:
        """Import a file, all of it or nothing."""
        if not (request.content_type or "").startswith(YamlParser.media_type) and request.query_params:
            text = _("With a JSON body this stands in the body.")
            raise serializers.ValidationError({name: [text] for name in request.query_params})
        wish = ImportSerializer(data=request.data, context={"request": request})
        wish.is_valid(raise_exception=True)
        dry_run = wish.validated_data["dry_run"]
        team = team_for_new(request, wish.validated_data)
        changes = inventory.import_inventory(
            team=team,
            text=wish.validated_data["inventory"],
            dry_run=dry_run,
            confirmation=services.confirmation_of(rights.user_of(request), team),
        )
        return _summary(changes, dry_run=dry_run)

    def _team_to_read(self, request: Request) -> Team:
        wish = ExampleSerializer(data=request.query_params.dict(), context={"request": request})
        wish.is_valid(raise_exception=True)
        return team_for_new(request, wish.validated_data, Role.VIEWER)


class ExampleView(APIView):
    """The published example."""

    permission_classes = [permissions.IsAuthenticated, ScopedToken]

    @extend_schema(operation_id="inventory_example", request=ExampleSerializer, responses=ImportedSerializer)
    def post(self, request: Request) -> Response:
        """Load it into a team; what the team has under the same names is changed to it."""
        wish = ExampleSerializer(data=request.data, context={"request": request})
        wish.is_valid(raise_exception=True)
        team = team_for_new(request, wish.validated_data)
        return _summary(inventory.load_example(team=team), dry_run=False)
