"""REST: archives of campaigns, out and in."""

from typing import Any

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import TeamField, get_scoped_or_404, team_for_new
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.writer import archive_of
from apps.archive.incoming import progress, queries, services
from apps.archive.incoming.models import IncomingArchive
from apps.campaigns import queries as campaigns
from apps.core import messages, rest
from apps.core.api import Conflict
from apps.core.json_bodies import JSONParser
from apps.core.retry_api import RetrySerializer
from apps.core.streams import send


class CampaignArchiveView(rest.APIView):
    """A campaign with all that its figures rest on, as one file."""

    @extend_schema(
        operation_id="campaigns_archive",
        responses={
            (200, "application/zip"): OpenApiTypes.BINARY,
            409: OpenApiResponse(
                description="The campaign has not ended, or its archive would be larger than any that is read."
            ),
        },
    )
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        """Send the archive of a campaign that has ended."""
        campaign = get_scoped_or_404(campaigns.campaigns_for(rights.user_of(request)), pk=pk)
        now, reader = timezone.now(), rights.user_of(request)
        try:
            archive_of(campaign, now=now, reader=reader)
        except ArchiveError as error:
            raise Conflict(messages.render(error.message)) from error
        name = f"{campaign.permanent_id}.zip"
        return send(request, lambda: archive_of(campaign, now=now, reader=reader), name=name, kind="application/zip")


class IncomingArchiveSerializer(serializers.ModelSerializer):
    """An archive that was sent: what was found in it, how far it is, and what became of it."""

    team = TeamField(read_only=True)
    reason = serializers.SerializerMethodField(help_text="Why it is refused.")
    campaign: Any = serializers.IntegerField(source="campaign.pk", read_only=True, default=None, allow_null=True)
    preview = serializers.DictField(
        read_only=True,
        help_text="What was found in it: `totals` says how many of each list, which has the first ones.",
    )
    kept_until = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="When it expires unless somebody decides on it."
    )

    retry = RetrySerializer(read_only=True, allow_null=True, help_text="Why a worker has to try again.")

    class Meta:
        model = IncomingArchive
        fields = [
            "id", "team", "name", "size", "state", "preview", "done", "total", "reason", "retry", "campaign",
            "kept_until", "created_at",
        ]  # fmt: skip

    def get_reason(self, item: IncomingArchive) -> str:
        """Return the reason in the reader's language."""
        return messages.render(item.reason)


class ListedArchiveSerializer(IncomingArchiveSerializer):
    """An archive in a list: what was found in it stands in its own answer."""

    class Meta(IncomingArchiveSerializer.Meta):
        fields = [name for name in IncomingArchiveSerializer.Meta.fields if name != "preview"]


class ReceiveSerializer(serializers.Serializer):
    """An archive and the team that takes it."""

    team = TeamField()
    archive = serializers.FileField()


class AgreeSerializer(serializers.Serializer):
    """What of the team the archive's nodes stand for; what is left out is called the same here."""

    nodes = serializers.DictField(child=serializers.CharField(), default=dict)
    keep_ids = serializers.BooleanField(
        default=False, help_text="Give it the permanent ids that it says: for administrators, of a source they trust."
    )


class IncomingArchiveViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, rest.GenericViewSet):
    """Archives of campaigns that were sent here."""

    queryset = IncomingArchive.objects.none()
    serializer_class = IncomingArchiveSerializer
    parser_classes = [MultiPartParser, JSONParser]
    filterset_fields = ["state"]
    ordering_fields = ["id"]

    def get_queryset(self) -> QuerySet[IncomingArchive]:
        """Return those that the user may see."""
        return queries.archives_for(rights.user_of(self.request)).order_by("-id")

    def get_serializer_class(self) -> type[serializers.BaseSerializer[IncomingArchive]]:
        """Return what is told of one, or of each in a list."""
        return ListedArchiveSerializer if self.action == "list" else IncomingArchiveSerializer

    def get_object(self) -> Any:
        """Return it with the progress that its worker told of."""
        return progress.with_progress(super().get_object())

    @extend_schema(request={"multipart/form-data": ReceiveSerializer}, responses={201: IncomingArchiveSerializer})
    def create(self, request: Request) -> Response:
        """Send an archive; a worker looks through it, then its state is “ready” or “refused”."""
        wish = ReceiveSerializer(data=request.data, context={"request": request})
        wish.is_valid(raise_exception=True)
        team = team_for_new(request, wish.validated_data)
        incoming = services.take(team=team, user=rights.user_of(request), file=wish.validated_data["archive"])
        return Response(self.get_serializer(incoming).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=AgreeSerializer, responses={202: IncomingArchiveSerializer})
    @action(detail=True, methods=["post"])
    def agree(self, request: Request, pk: str | None = None) -> Response:
        """Have it stored: all of it, or nothing and the reason."""
        incoming = self.get_object()
        wish = AgreeSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        services.agree(incoming=incoming, user=rights.user_of(request), **wish.validated_data)
        incoming.refresh_from_db()
        return Response(self.get_serializer(incoming).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str | None = None) -> Response:
        """Forget what was sent; a campaign that was made of it stays."""
        incoming = self.get_object()
        services.give_up(incoming=incoming, user=rights.user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
