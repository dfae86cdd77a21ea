"""REST: reports as they are now, what their authors change, and editions."""

from dataclasses import asdict
from functools import cached_property
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.filters import RowFilter
from apps.campaigns import queries as campaigns
from apps.campaigns.api.brought_in import BroughtInField
from apps.campaigns.models import Campaign
from apps.campaigns.queries.visibility import visible
from apps.core import rest
from apps.core.entries import Referring
from apps.core.errors import ConflictError
from apps.core.names import check_seen
from apps.core.openapi import ErrorSerializer
from apps.reports import drafts, queries, serialisation, services
from apps.reports.models import Edition, Report
from apps.reports.truthful import SentencesRefusedError


class CampaignField(Referring, serializers.SlugRelatedField):
    """A campaign by its permanent id; those that the person may not see do not exist."""

    lookup = "permanent_id"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(slug_field="permanent_id", **({"queryset": Campaign.objects.all()} | kwargs))

    def get_queryset(self) -> Any:
        """Return what the person may choose."""
        return visible(Campaign.objects.filter(deleting_at=None), self.context["request"].user)


class ReportSerializer(serializers.ModelSerializer):
    """A report of one language; `edits` are what its author changed, by the keys of the document's parts."""

    team: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    campaign: Any = serializers.SlugRelatedField(slug_field="permanent_id", read_only=True)
    baseline = serializers.SerializerMethodField(
        help_text="Permanent id of the campaign that it is compared with; null as well if that is not shown to you."
    )
    also = serializers.SerializerMethodField(
        help_text="Permanent ids of the further campaigns that it tells of, as far as they are shown to you."
    )
    edits = serializers.JSONField(read_only=True)
    brought_in = BroughtInField("campaign.brought_in", default=None)
    created_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)
    url = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = Report
        fields = [
            "id", "kind", "team", "campaign", "baseline", "also", "language", "title", "edits", "url", "created_by",
            "brought_in", "created_at", "updated_at",
        ]  # fmt: skip

    def get_also(self, report: Report) -> list[str]:
        """Return the permanent ids."""
        return [name for name in report.selection.get("also", []) if name in self._seen]

    def get_baseline(self, report: Report) -> str | None:
        """Return the permanent id."""
        permanent_id = report.baseline and report.baseline.permanent_id
        return permanent_id if permanent_id in self._seen else None

    @cached_property
    def _seen(self) -> set[str]:
        """Return the permanent ids that the reader may know, of all reports that are shown, in one query."""
        instances: Any = (
            self.parent.instance if isinstance(self.parent, serializers.ListSerializer) else [self.instance]
        )
        many: list[Report] = list(instances or ())
        permanent_ids = {name for report in many for name in report.selection.get("also", [])}
        permanent_ids |= {report.baseline.permanent_id for report in many if report.baseline}
        campaigns_in_sight = Campaign.objects.filter(deleting_at=None, permanent_id__in=permanent_ids)
        return set(
            visible(campaigns_in_sight, self.context["request"].user)
            .order_by()
            .values_list("permanent_id", flat=True)
        )


class NewReportSerializer(serializers.Serializer):
    """Which campaign a report is of, and its language."""

    campaign = CampaignField()
    language = serializers.ChoiceField(choices=settings.LANGUAGES, default=settings.LANGUAGE_CODE)


class ReportChangeSerializer(serializers.Serializer):
    """What is changed of a report; what is left out stays. `edits` replace all that was edited."""

    edits = serializers.JSONField(required=False)
    baseline = CampaignField(required=False, allow_null=True)
    also = CampaignField(required=False, many=True)


class EditionSerializer(serializers.ModelSerializer):
    """What was frozen; `checksum` is the SHA-256 of the canonical JSON that `document` returns to you.

    In lists it is that of the whole document, which readers of other teams get without what is its team's own; ""
    for these where the document is too long (4 MiB) to be had but as a file.
    """

    id = serializers.CharField(source="permanent_id", read_only=True)
    created_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)
    brought_in = BroughtInField()
    rests_on = serializers.ListField(child=serializers.CharField(), read_only=True)
    url = serializers.CharField(source="get_absolute_url", read_only=True)
    marked_since = serializers.IntegerField(
        read_only=True,
        default=0,
        help_text="How many trials that it rests on were marked invalid since it was frozen: it does not tell.",
    )

    class Meta:
        model = Edition
        fields = [
            "id", "report", "number", "title", "language", "checksum", "rests_on", "note", "url", "created_by",
            "brought_in", "created_at", "marked_since",
        ]  # fmt: skip


class FreezeSerializer(serializers.Serializer):
    """What is new in an edition; `is_corrected` puts what the tables bear out in place of each refused sentence.

    `after` is the number of the latest edition that was there (0 for none): what was frozen by the same person under
    the same note since then is returned in place of another, so that a request can be sent again.
    """

    note = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=300, validators=[check_seen]
    )
    is_corrected = serializers.BooleanField(required=False, default=False)
    after = serializers.IntegerField(required=False, min_value=0, max_value=2_000_000_000)


class WrongSentenceSerializer(serializers.Serializer):
    """A sentence that the report's own table does not bear out, and what it does ("" for nothing)."""

    place = serializers.CharField()
    sentence = serializers.CharField()
    table = serializers.CharField()
    right = serializers.CharField()


class FreezeRefusedSerializer(ErrorSerializer):
    """Why a report cannot be frozen; `sentences` are those that its tables do not bear out, if that is why."""

    sentences = WrongSentenceSerializer(many=True, required=False)


class ReportFilter(filters.FilterSet):
    """Filters of reports."""

    campaign = RowFilter(campaigns.campaigns_for)

    class Meta:
        model = Report
        fields = ["campaign", "kind", "language"]


class ReportViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, rest.GenericViewSet):
    """Reports: built anew from results and findings whenever they are read."""

    queryset = Report.objects.none()
    serializer_class = ReportSerializer
    filterset_class = ReportFilter
    ordering_fields = ["id", "created_at", "updated_at"]

    def get_queryset(self) -> Any:
        """Return the reports of the person's teams."""
        return queries.reports_for(rights.user_of(self.request)).select_related("baseline")

    @extend_schema(request=NewReportSerializer, responses={201: ReportSerializer})
    def create(self, request: Request) -> Response:
        """Begin the report of a campaign in a language; if there is one already it is returned."""
        wish = NewReportSerializer(data=request.data, context=self.get_serializer_context())
        wish.is_valid(raise_exception=True)
        report = services.begin_report(user=rights.user_of(request), **wish.validated_data)
        return Response(self.get_serializer(report).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=ReportChangeSerializer, responses=ReportSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change what an author edits, the baseline, or the further campaigns."""
        report, user = self.get_object(), rights.user_of(request)
        wish = ReportChangeSerializer(data=request.data, context=self.get_serializer_context())
        wish.is_valid(raise_exception=True)
        change = wish.validated_data
        services.change_report(report=report, user=user, **change)
        return Response(self.get_serializer(self.get_object()).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete a report that was never frozen."""
        services.delete_report(report=self.get_object(), user=rights.user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True, filterset_class=None, pagination_class=None)
    def document(self, request: Request, pk: str) -> Response:
        """Return the document as it is now, with every trial."""
        return Response(serialisation.as_json(drafts.build(self.get_object(), rights.user_of(request))))

    @extend_schema(
        request=FreezeSerializer,
        responses={
            200: OpenApiResponse(EditionSerializer, description="It was frozen already, since the edition `after`."),
            201: EditionSerializer,
            409: OpenApiResponse(
                FreezeRefusedSerializer,
                description="Conclusions are not drawn, or failed; or sentences do not agree with the tables.",
            ),
        },
    )
    @action(detail=True, methods=["post"])
    def freeze(self, request: Request, pk: str) -> Response:
        """Freeze the report as it is now."""
        report = self.get_object()
        wish = FreezeSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        now = timezone.now()
        try:
            edition = services.freeze_report(
                report=report, user=rights.user_of(request), now=now, **wish.validated_data
            )
        except SentencesRefusedError as error:
            wrong_sentences = [asdict(wrong) for wrong in error.sentences]
            return Response(
                {"detail": " ".join(error.messages), "fields": {}, "sentences": wrong_sentences},
                status=status.HTTP_409_CONFLICT,
            )
        serializer = EditionSerializer(edition, context=self.get_serializer_context())
        code = status.HTTP_201_CREATED if edition.created_at == now else status.HTTP_200_OK
        return Response(serializer.data, status=code)


class EditionFilter(filters.FilterSet):
    """Filters of editions."""

    report = RowFilter(queries.known_reports)

    class Meta:
        model = Edition
        fields = ["report", "language"]


class EditionViewSet(rest.ReadOnlyModelViewSet):
    """Editions by their permanent ids: they never change."""

    queryset = Edition.objects.none()
    serializer_class = EditionSerializer
    lookup_field = "permanent_id"
    filterset_class = EditionFilter
    ordering_fields = ["created_at", "number"]

    def get_queryset(self) -> Any:
        """Return the editions that the person may read."""
        return queries.with_marked(queries.editions_for(rights.user_of(self.request)))

    def get_object(self) -> Edition:
        """Return the edition as the person reads it."""
        return queries.as_shown_to(super().get_object(), rights.user_of(self.request))

    @extend_schema(
        responses={
            200: OpenApiTypes.OBJECT,
            409: OpenApiResponse(ErrorSerializer, description="It is too long: ask for its JSON file."),
        }
    )
    @action(detail=True, filterset_class=None, pagination_class=None)
    def document(self, request: Request, permanent_id: str) -> HttpResponse:
        """Return the canonical JSON to the byte, so that whoever has it can take its checksum."""
        edition = self.get_object()
        if not edition.canonical:
            raise ConflictError(str(queries.TOO_LONG))
        return HttpResponse(edition.canonical, content_type="application/json; charset=utf-8")
