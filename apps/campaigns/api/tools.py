"""REST: the tools there are, to read."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.rights import user_of
from apps.bench import tools
from apps.bench.toolkit import Parameter
from apps.core import rest
from apps.core.fields import TranslatedField
from apps.toolbox import queries as toolbox


class ParameterSerializer(serializers.Serializer):
    """An option of a tool; `default`, `minimum` and `maximum` are in base units."""

    name = serializers.CharField()
    kind = serializers.CharField()
    label: Any = TranslatedField()
    help = TranslatedField()
    default = serializers.JSONField()
    unit = serializers.CharField()
    minimum = serializers.FloatField(allow_null=True)
    maximum = serializers.FloatField(allow_null=True)
    choices = serializers.SerializerMethodField()
    required: Any = serializers.BooleanField()
    advanced = serializers.BooleanField()

    def get_choices(self, parameter: Parameter) -> list[str]:
        """Return the values to choose from, empty if it is not a choice."""
        return [value for value, _label in parameter.choices]


class MetricSerializer(serializers.Serializer):
    """A figure that a tool gives, in `unit`."""

    name = serializers.CharField()
    label: Any = TranslatedField()
    unit = serializers.CharField()
    higher_is_better = serializers.BooleanField(allow_null=True)
    primary = serializers.BooleanField()
    axis = serializers.CharField()


class ToolRoleSerializer(serializers.Serializer):
    """A part that nodes play; `many` roles take several nodes at once."""

    name = serializers.CharField()
    label: Any = TranslatedField()
    many: Any = serializers.BooleanField()


class ToolSerializer(serializers.Serializer):
    """A benchmark tool."""

    slug = serializers.CharField()
    name = serializers.CharField()
    summary = TranslatedField()
    group = serializers.CharField()
    file_system = serializers.CharField(help_text="Empty, optional or required.")
    programs = serializers.ListField(child=serializers.CharField())
    minimum_version = serializers.CharField()
    roles = ToolRoleSerializer(many=True)
    parameters = ParameterSerializer(many=True)
    metrics = MetricSerializer(many=True)


class ToolViewSet(rest.ViewSet):
    """The benchmark tools this server knows, with their parameters and metrics."""

    lookup_field = "slug"
    # Versions of teams' own tools have a dot: site-stream.v2.
    lookup_value_regex = "[^/]+"

    @extend_schema(responses=ToolSerializer(many=True))
    def list(self, request: Request) -> Response:
        """Return every tool."""
        return Response(ToolSerializer(toolbox.tools_of(user_of(request)), many=True).data)

    @extend_schema(parameters=[OpenApiParameter("slug", str, OpenApiParameter.PATH)], responses=ToolSerializer)
    def retrieve(self, request: Request, slug: str) -> Response:
        """Return the tool of a slug with its parameters and metrics; 404 names those that there are."""
        try:
            return Response(ToolSerializer(toolbox.get_tool_of(slug, user_of(request))).data)
        except tools.UnknownTool as error:
            raise NotFound(str(error)) from error
