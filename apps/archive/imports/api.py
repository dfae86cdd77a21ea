"""REST: imports from sending to storing, and mappings of columns."""

from typing import Any

from django.core.files import File
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import parsers, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import TeamField, TeamScopedViewSet, team_for_new
from apps.archive.imports import queries, services, sheets
from apps.archive.imports.models import ColumnMapping, Import, ImportItem
from apps.core import moments
from apps.core.messages import render
from apps.core.names import check_seen
from apps.core.retry_api import RetrySerializer


@extend_schema_field(OpenApiTypes.STR)
class MessageField(serializers.Field):
    """A stored message in the reader's language, null without one."""

    def to_representation(self, value: Any) -> str:
        """Return the text."""
        return render(value)


class ImportGroupSerializer(serializers.Serializer):
    """Outputs of one tool from one folder, which become an experiment; figures in base units."""

    key = serializers.CharField()
    tool = serializers.CharField()
    folder = serializers.CharField()
    count = serializers.IntegerField()
    values = serializers.DictField(help_text="Parameters that all outputs tell alike.")
    varies = serializers.ListField(child=serializers.CharField(), help_text="Parameters that differ.")
    missing = serializers.ListField(
        child=serializers.CharField(), help_text="Parameters that not every output tells."
    )
    suggested = serializers.DictField(help_text="Nodes by role, as far as the outputs name them.")


class ImportSheetSerializer(serializers.Serializer):
    """How a sheet of a table begins."""

    name = serializers.CharField(allow_blank=True)
    is_hidden = serializers.BooleanField()
    headers = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.ListField(child=serializers.CharField(allow_blank=True)))
    problem: Any = MessageField(allow_null=True, help_text="Why it cannot be imported.")


class MeasurementImportSerializer(serializers.ModelSerializer):
    """An import: what was sent, what was found, and what comes next."""

    team = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    created_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    groups = ImportGroupSerializer(many=True, read_only=True)
    reason: Any = MessageField(read_only=True)
    sheets = serializers.SerializerMethodField(help_text="Of a table: how each of its sheets begins.")
    mapping = serializers.JSONField(read_only=True)
    choices = serializers.JSONField(read_only=True)
    uploads = serializers.JSONField(read_only=True)
    kept_until = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="When it expires unless somebody decides on it."
    )
    retry = RetrySerializer(read_only=True, allow_null=True, help_text="Why a worker has to try again.")
    url = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = Import
        fields = [
            "id", "team", "name", "kind", "state", "reason", "retry", "uploads", "measured_on", "total", "done",
            "groups", "choices", "sheets", "mapping", "campaign", "url", "kept_until", "created_by", "created_at",
            "updated_at",
        ]  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(ImportSheetSerializer(many=True))
    def get_sheets(self, imported: Import) -> Any:
        """Return the sheets of a table whose head was read; of a CSV the only one, which has no name."""
        rows = sheets.sheets_of(imported) if imported.sheet else []
        return ImportSheetSerializer(rows, many=True).data


class SendFilesSerializer(serializers.Serializer):
    """Files to import, as multipart/form-data."""

    team = TeamField()
    kind: Any = serializers.ChoiceField(choices=Import.Kind.choices, default=Import.Kind.OUTPUTS)
    name: Any = serializers.CharField(max_length=200, required=False, allow_blank=True, validators=[check_seen])
    measured_on: Any = serializers.DateField(required=False, allow_null=True, validators=[moments.check_day])
    sent: Any = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True), allow_empty=False, max_length=services.MOST_FILES
    )


class ImportItemSerializer(serializers.ModelSerializer):
    """One output of a file or one row of a table, in base units; `reason` says why it is not imported."""

    reason: Any = serializers.SerializerMethodField()
    trial: Any = serializers.SerializerMethodField()

    class Meta:
        model = ImportItem
        fields = [
            "position", "file", "place", "group", "tool", "told", "values", "roles", "measured_at", "is_duplicate",
            "reason", "trial",
        ]  # fmt: skip
        read_only_fields = fields

    def get_reason(self, item: ImportItem) -> str | None:
        """Return why it is refused, or cannot be read with what was chosen."""
        reason = item.refusal or item.problem
        return render(reason) if reason else None

    @extend_schema_field(serializers.IntegerField(allow_null=True))
    def get_trial(self, item: ImportItem) -> int | None:
        """Return the number of its trial, null without one that the reader may see."""
        return item.trial_id if item.trial_id in self.context["trials"] else None


class MeaningSerializer(serializers.Serializer):
    """What a column means."""

    name = serializers.CharField(required=False, allow_blank=True, max_length=100, validators=[check_seen])
    unit = serializers.CharField(required=False, allow_blank=True, max_length=100)
    decimals = serializers.CharField(
        required=False, allow_blank=True, max_length=100, help_text="The sign before decimals, “.” or “,”, if known."
    )

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; the name of one is a word of Python."""
        meaning = serializers.CharField(required=False, allow_blank=True, max_length=100)
        return {"as": meaning, **super().get_fields()}


class MapColumnsSerializer(serializers.Serializer):
    """What the columns of a table mean: {header: {"as", "name", "unit", "decimals"}}."""

    tool = serializers.CharField(max_length=50)
    columns = serializers.DictField(child=MeaningSerializer(), allow_empty=False)
    sheets = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        default=list,
        help_text="Names of the sheets of a workbook to be read; without any the first that is not hidden.",
    )
    keep_as = serializers.CharField(max_length=100, required=False, allow_blank=True, validators=[check_seen])


class CompleteGroupSerializer(serializers.Serializer):
    """Who measured a group, and what its outputs do not tell; roles left out are as in the first group."""

    key = serializers.CharField()
    include = serializers.BooleanField(default=True)
    name: Any = serializers.CharField(max_length=200, required=False, allow_blank=True, validators=[check_seen])
    roles = serializers.DictField(
        child=serializers.ListField(child=serializers.IntegerField()), required=False, help_text="Ids of nodes."
    )
    parameters = serializers.DictField(
        required=False, help_text="Values, or texts with units, of what outputs do not tell; others are not known."
    )
    alike = serializers.BooleanField(
        default=False,
        help_text="What no output tells was the same in all: those that are alike in the rest are repetitions.",
    )
    file_system = serializers.IntegerField(required=False, allow_null=True)


class CompleteImportSerializer(serializers.Serializer):
    """What is said of the groups; `leave_out` imports the rest where some cannot be read."""

    name = serializers.CharField(max_length=200, required=False, allow_blank=True, validators=[check_seen])
    measured_on = serializers.DateField(required=False, allow_null=True, validators=[moments.check_day])
    groups = CompleteGroupSerializer(many=True)
    leave_out = serializers.BooleanField(default=False)


class ImportViewSet(TeamScopedViewSet):
    """Imports of one's teams. Workers read and store: ask again until the state says that it is one's own turn."""

    queryset = Import.objects.order_by("-created_at", "-pk")
    serializer_class = MeasurementImportSerializer
    http_method_names = ["get", "post", "delete", "head", "options"]
    filterset_fields = ["state", "kind"]
    search_fields = ["name"]
    ordering_fields = ["id", "name", "created_at"]

    def narrow(self, rows: Any) -> Any:
        """Return the imports that the person may see."""
        return queries.imports_for(rights.user_of(self.request))

    @extend_schema(
        request={"multipart/form-data": SendFilesSerializer},
        responses={201: MeasurementImportSerializer},
        filters=False,
    )
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Send files."""
        serializer = SendFilesSerializer(data=request.data, context=self.get_serializer_context())
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        files: list[File] = values["sent"]
        imported = services.create_import(
            team=team_for_new(request, values, self.write_role),
            user=rights.user_of(request),
            kind=values["kind"],
            files=files,
            name=values.get("name", ""),
            measured_on=values.get("measured_on"),
        )
        return Response(self.get_serializer(imported).data, status=status.HTTP_201_CREATED)

    def get_parsers(self) -> list[Any]:
        """Return what reads a body: files come as a form."""
        if getattr(self, "action_map", {}).get("post") == "create":
            return [parsers.MultiPartParser()]
        return list(super().get_parsers())

    def perform_destroy(self, instance: Import) -> None:
        """Give an import up; what it became stays."""
        services.discard_import(imported=instance)

    @extend_schema(
        responses=ImportItemSerializer(many=True),
        filters=False,
        parameters=[OpenApiParameter("show", str, enum=list(queries.KINDS), description="Only those.")],
    )
    @action(detail=True, url_path="items")
    def found(self, request: Request, pk: str) -> Response:
        """Return what was found in the files, page by page."""
        items = queries.items_of(self.get_object(), request.query_params.get("show", ""))
        page = self.paginate_queryset(items) or []
        context = {"trials": queries.visible_trials(page, rights.user_of(request))}
        return self.get_paginated_response(ImportItemSerializer(page, many=True, context=context).data)

    @extend_schema(request=MapColumnsSerializer, responses=MeasurementImportSerializer)
    @action(detail=True, methods=["post"])
    def columns(self, request: Request, pk: str) -> Response:
        """Say what the columns of a table mean; its rows are read then."""
        imported = self.get_object()
        serializer = MapColumnsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        imported = services.map_columns(
            imported=imported, tool=values["tool"], mapping=values["columns"], sheets_chosen=values["sheets"]
        )
        if values.get("keep_as"):
            services.keep_mapping(imported=imported, user=rights.user_of(request), name=values["keep_as"])
        return Response(self.get_serializer(imported).data)

    @extend_schema(request=CompleteImportSerializer, responses=MeasurementImportSerializer)
    @action(detail=True, methods=["post"])
    def store(self, request: Request, pk: str) -> Response:
        """Say who measured each group and what its outputs do not tell; then all of it is imported, or nothing."""
        imported = self.get_object()
        serializer = CompleteImportSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        groups = {group["key"]: {key: group[key] for key in group if key != "key"} for group in values["groups"]}
        imported = services.complete_import(
            imported=imported,
            groups=groups,
            name=values.get("name", ""),
            measured_on=values.get("measured_on", imported.measured_on),
        )
        imported = services.store_import(imported=imported, leave_out=values["leave_out"])
        return Response(self.get_serializer(imported).data)


class ColumnMappingSerializer(serializers.ModelSerializer):
    """What the columns of tables mean, kept under a name."""

    team = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    created_by = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    columns = serializers.JSONField(read_only=True)
    sheets = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="Of a workbook with several, those that are read."
    )

    class Meta:
        model = ColumnMapping
        fields = ["id", "team", "name", "tool", "columns", "sheets", "created_by", "created_at", "updated_at"]
        read_only_fields = fields


class ColumnMappingViewSet(TeamScopedViewSet):
    """Mappings of columns that one's teams keep; an import makes them."""

    queryset = ColumnMapping.objects.select_related("team", "created_by").order_by("name", "pk")
    serializer_class = ColumnMappingSerializer
    http_method_names = ["get", "delete", "head", "options"]
    ordering_fields = ["id", "name"]
