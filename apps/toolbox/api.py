"""REST: the tools that teams define, their versions, and definitions tried on an output."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, permissions, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import TeamField, team_for_new
from apps.accounts.models import Role
from apps.accounts.permissions import ScopedToken
from apps.accounts.rights import user_of, visible
from apps.core import messages, rest
from apps.core.api import unknown_choices
from apps.core.names import check_seen
from apps.toolbox import attempts, files, queries, services
from apps.toolbox.models import TeamTool, ToolVersion


class VersionSerializer(serializers.ModelSerializer):
    """A version: `slug` is what an experiment names as its tool.

    One that came with an archive runs nothing while it waits for a manager (`awaits_manager`) to take it over.
    """

    slug = serializers.CharField(read_only=True)
    created_by = serializers.CharField(source="created_by.username", default=None, read_only=True, allow_null=True)

    class Meta:
        model = ToolVersion
        fields = ["slug", "number", "definition", "note", "awaits_manager", "created_by", "created_at"]


class TeamToolSerializer(serializers.ModelSerializer):
    """A tool; `latest` is the number of its latest version, null while all of them wait for a manager.

    `awaiting` is the number of the latest version that came with an archive and waits for a manager to take it over
    (`versions/NUMBER/take-over/`), null if none does.
    """

    team = TeamField(read_only=True)
    latest = serializers.IntegerField(read_only=True, allow_null=True)
    awaiting = serializers.IntegerField(read_only=True, allow_null=True)

    class Meta:
        model = TeamTool
        fields = [
            "id", "team", "slug", "name", "summary", "latest", "awaiting", "archived_at", "created_at", "updated_at",
        ]  # fmt: skip


class NewToolSerializer(serializers.Serializer):
    """A new tool: the fields of a definition are told in the guide “Adding a tool”."""

    team = TeamField()
    slug = serializers.CharField(max_length=40)
    definition = serializers.JSONField()
    note = serializers.CharField(
        max_length=300, required=False, default="", allow_blank=True, validators=[check_seen]
    )


class NewVersionSerializer(serializers.Serializer):
    """A next version; `based_on` is the number of the one that was changed, to be refused if there is a later one."""

    definition = serializers.JSONField()
    note = serializers.CharField(
        max_length=300, required=False, default="", allow_blank=True, validators=[check_seen]
    )
    based_on = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)


class ToolFileSerializer(serializers.Serializer):
    """A tool's file as text (YAML or JSON)."""

    team = TeamField()
    file = serializers.CharField(max_length=files.MOST_BYTES, trim_whitespace=False)


class AttemptSerializer(serializers.Serializer):
    """A definition, an output to read, and values of parameters (the defaults unless given)."""

    definition = serializers.JSONField()
    output = serializers.CharField(
        required=False, default="", allow_blank=True, trim_whitespace=False, max_length=1_000_000
    )
    parameters = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False, allow_null=True)


class AttemptResultSerializer(serializers.Serializer):
    """The commands that would run, the figures in base units, and why there are none."""

    commands = serializers.ListField(child=serializers.DictField())
    samples = serializers.ListField(child=serializers.DictField())
    flags = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField()
    remedy = serializers.CharField()


class TeamToolViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, rest.GenericViewSet):
    """Tools that teams define: viewers see them, managers define and change them."""

    queryset = queries.team_tools()
    serializer_class = TeamToolSerializer
    permission_classes = [permissions.IsAuthenticated, ScopedToken]
    lookup_field = "slug"
    lookup_value_regex = "[a-z0-9-]+"
    search_fields = ["name", "slug", "summary"]
    ordering_fields = ["name", "slug", "created_at", "updated_at"]

    def get_queryset(self) -> QuerySet[TeamTool]:
        """Return the tools of the person's teams."""
        return visible(super().get_queryset(), self.request.user)

    @extend_schema(request=NewToolSerializer, responses={201: TeamToolSerializer})
    def create(self, request: Request) -> Response:
        """Define a tool; each mistake in the definition is named at its field."""
        wish = _valid(NewToolSerializer, request)
        team = team_for_new(request, wish, Role.MANAGER)
        values = {name: wish[name] for name in ("slug", "definition", "note")}
        tool = services.create_tool(team=team, user=user_of(request), **values)
        return self._shown(tool, status.HTTP_201_CREATED)

    @extend_schema(methods=["GET"], responses=VersionSerializer(many=True))
    @extend_schema(methods=["POST"], request=NewVersionSerializer, responses={201: VersionSerializer})
    @action(detail=True, methods=["get", "post"], pagination_class=None, filter_backends=[])
    def versions(self, request: Request, slug: str) -> Response:
        """Return the versions, the latest first; or make the next one."""
        tool = self.get_object()
        if request.method == "GET":
            return Response(VersionSerializer(queries.versions_of(tool), many=True).data)
        wish = _valid(NewVersionSerializer, request)
        version = services.change_tool(tool=tool, user=user_of(request), **wish)
        return Response(VersionSerializer(version).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=None,
        operation_id="team_tools_versions_take_over",
        parameters=[OpenApiParameter("number", int, OpenApiParameter.PATH, description="The version's number.")],
        responses=VersionSerializer,
    )
    @action(detail=True, methods=["post"], url_path=r"versions/(?P<number>[0-9]{1,9})/take-over")
    def take_over(self, request: Request, slug: str, number: str) -> Response:
        """Have a version that came with an archive be offered, and run: managers only."""
        tool = self.get_object()
        get_object_or_404(tool.versions, number=int(number))
        version = services.take_over(tool=tool, user=user_of(request), number=int(number))
        return Response(VersionSerializer(version).data)

    @extend_schema(request=None, responses=TeamToolSerializer)
    @action(detail=True, methods=["post"])
    def archive(self, request: Request, slug: str) -> Response:
        """Offer a tool no more."""
        tool = self.get_object()
        services.archive_tool(tool=tool, user=user_of(request), now=timezone.now())
        return self._shown(tool)

    @extend_schema(request=None, responses=TeamToolSerializer)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, slug: str) -> Response:
        """Offer an archived tool again."""
        tool = self.get_object()
        services.restore_tool(tool=tool, user=user_of(request), now=timezone.now())
        return self._shown(tool)

    @extend_schema(
        operation_id="team_tools_file_retrieve",
        parameters=[OpenApiParameter("version", int, description="Its number; the latest unless given.")],
        responses={(200, "application/yaml"): OpenApiTypes.OBJECT},
    )
    @action(detail=True, methods=["get"], url_path="file")
    def export(self, request: Request, slug: str) -> HttpResponse:
        """Return a version as a YAML file."""
        tool = self.get_object()
        wanted, versions = request.query_params.get("version"), queries.versions_of(tool)
        numbers = [str(version.number) for version in versions]
        if wanted and wanted not in numbers:
            raise unknown_choices({"version": numbers})
        version = versions[numbers.index(wanted)] if wanted else queries.latest_version(tool)
        text = files.export_tool(tool.slug, queries.definition_of(version))
        return HttpResponse(text, content_type="application/yaml; charset=utf-8")

    @extend_schema(request=ToolFileSerializer, responses=TeamToolSerializer)
    @action(detail=False, methods=["post"], url_path="import")
    def import_file(self, request: Request) -> Response:
        """Take a tool in: a new one, or the next version of the team's tool of that short name."""
        wish = _valid(ToolFileSerializer, request)
        team = team_for_new(request, wish, Role.MANAGER)
        return self._shown(services.import_tool(team=team, user=user_of(request), raw=wish["file"]))

    @extend_schema(request=AttemptSerializer, responses=AttemptResultSerializer)
    @action(detail=False, methods=["post"], url_path="try")
    def attempt(self, request: Request) -> Response:
        """Say what a definition would run and what it reads of an output; nothing is stored."""
        wish = _valid(AttemptSerializer, request)
        definition = services.checked(wish["definition"])
        attempt = attempts.try_definition(
            user=user_of(request), definition=definition, output=wish["output"], values=wish.get("parameters")
        )
        samples = attempt.reading.samples if attempt.reading else ()
        body = {
            "commands": [{"role": role, "argv": list(argv)} for role, argv in attempt.commands],
            "samples": [vars(sample) for sample in samples],
            "flags": [messages.render(flag.message) for flag in attempt.reading.flags] if attempt.reading else [],
            "reason": attempt.reason,
            "remedy": attempt.remedy,
        }
        return Response(AttemptResultSerializer(body).data)

    def _shown(self, tool: TeamTool, code: int = status.HTTP_200_OK) -> Response:
        return Response(TeamToolSerializer(queries.team_tools().get(pk=tool.pk)).data, status=code)


def _valid(shape: type[serializers.Serializer], request: Request) -> dict[str, Any]:
    wish = shape(data=request.data, context={"request": request})
    wish.is_valid(raise_exception=True)
    values: dict[str, Any] = wish.validated_data
    return values
