"""REST: files that reports are rendered to, asked for and fetched."""

from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.filters import RowFilter
from apps.core import messages, rest
from apps.reports import queries as reports
from apps.reports.files import queries, services, views
from apps.reports.files.formats import CHOICES, FORMATS
from apps.reports.models import Rendering


class RenderingSerializer(serializers.ModelSerializer):
    """A file: `progress` in per cent, `size` in bytes, `checksum` its SHA-256; without an edition of the draft."""

    edition: Any = serializers.SlugRelatedField(slug_field="permanent_id", read_only=True, allow_null=True)
    error = serializers.SerializerMethodField()

    class Meta:
        model = Rendering
        fields = [
            "id", "report", "edition", "format", "state", "progress", "error", "size", "checksum", "requested_at",
            "finished_at",
        ]  # fmt: skip

    def get_error(self, rendering: Rendering) -> str:
        """Return why it failed, in the reader's language."""
        return messages.render(rendering.error)


class RequestSerializer(serializers.Serializer):
    """What is to be rendered: an edition by its permanent id, or a report's draft by the report's id."""

    edition: Any = serializers.SlugRelatedField(
        slug_field="permanent_id", queryset=reports.Edition.objects.none(), required=False
    )
    report: Any = serializers.PrimaryKeyRelatedField(queryset=reports.Report.objects.none(), required=False)
    format = serializers.ChoiceField(choices=CHOICES)

    def get_fields(self) -> dict[str, Any]:
        """Offer what the person sees, and nothing else."""
        fields: dict[str, Any] = super().get_fields()
        request = self.context.get("request")
        if request is not None and request.user.is_authenticated:
            fields["edition"].queryset = reports.editions_for(rights.user_of(request))
            fields["report"].queryset = reports.reports_for(rights.user_of(request))
        return fields

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Want one of both."""
        if ("edition" in attrs) == ("report" in attrs):
            raise serializers.ValidationError({"edition": [_("Name either an edition or a report.")]})
        return attrs


class RenderingFilter(filters.FilterSet):
    """Filters of files."""

    report = RowFilter(reports.known_reports)

    class Meta:
        model = Rendering
        fields = ["report", "format", "state"]


class RenderingViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, mixins.CreateModelMixin, rest.GenericViewSet
):
    """Files of editions that the person sees, and the person's own of drafts."""

    queryset = Rendering.objects.none()
    serializer_class = RenderingSerializer
    filterset_class = RenderingFilter
    ordering_fields = ["id", "requested_at"]

    def get_queryset(self) -> QuerySet[Rendering]:
        """Return the files the person may have."""
        return queries.renderings_for(rights.user_of(self.request))

    @extend_schema(request=RequestSerializer, responses={201: RenderingSerializer})
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Ask for a file; that of an edition is made once, unless it is lost. Watch its `state`, then fetch it."""
        serializer = RequestSerializer(data=request.data, context=self.get_serializer_context())
        serializer.is_valid(raise_exception=True)
        edition = serializer.validated_data.get("edition")
        rendering = services.request_rendering(
            report=edition.report if edition else serializer.validated_data["report"],
            edition=edition,
            name=serializer.validated_data["format"],
            user=rights.user_of(request),
            now=timezone.now(),
        )
        return Response(self.get_serializer(rendering).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        responses={
            **{(200, kind.content_type): OpenApiTypes.BINARY for kind in FORMATS.values()},
            404: OpenApiResponse(description="No file yet, or not on the disk any more: ask for it again."),
        }
    )
    @action(detail=True, methods=["get"])
    def content(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Fetch the file, once its state is “done”."""
        return views.hand_out(request, self.get_object())
