"""REST: schedules of reports, and their deliveries."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import ScopedRelatedField, TeamField, TeamScopedViewSet, team_for_new
from apps.accounts.api.base import refuse_other_team
from apps.accounts.consent import Consent
from apps.campaigns.api.experiments import ScopedCampaignField
from apps.campaigns.models import Campaign
from apps.core.fields import TranslatedField
from apps.core.versions import hold
from apps.reports.files.formats import FORMATS
from apps.reports.models import Delivery, Report, Schedule
from apps.reports.schedules import queries, services


class ScheduleSerializer(serializers.ModelSerializer):
    """Dates at which a management report (`report`), or that of a campaign series (`series`), is delivered."""

    team = TeamField()
    report = ScopedRelatedField(queryset=Report.objects.all(), required=False, allow_null=True)
    series = ScopedCampaignField(queryset=Campaign.objects.all(), path="", required=False, allow_null=True)
    language = serializers.ChoiceField(choices=settings.LANGUAGES, required=False)
    formats = serializers.ListField(
        child=serializers.ChoiceField(choices=list(FORMATS)), required=False, max_length=len(FORMATS)
    )
    recipients = serializers.ListField(child=serializers.CharField(max_length=254), required=False, max_length=1000)
    saved_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)

    class Meta:
        model = Schedule
        fields = [
            "id", "team", "name", "report", "series", "language", "cron", "cron_timezone", "is_active", "next_at",
            "formats", "recipients", "saved_by", "created_at", "updated_at",
        ]  # fmt: skip
        read_only_fields = ["next_at"]
        # Whether the name is new in the team is asked once the team is known.
        validators: list[Any] = []


class DeliverySerializer(serializers.ModelSerializer):
    """One time that a schedule was due, with the permanent id of the edition that was frozen."""

    edition: Any = serializers.SlugRelatedField(slug_field="permanent_id", read_only=True)
    note = TranslatedField(read_only=True)

    class Meta:
        model = Delivery
        fields = ["id", "due_at", "state", "edition", "note", "mailed", "attempts", "ended_at"]


class RecipientSerializer(serializers.Serializer):
    """An address and how it stands; `since` is when its owner was asked, confirmed or stopped all mails."""

    address = serializers.CharField()
    standing = serializers.ChoiceField(choices=Consent.choices)
    text = serializers.CharField(source="standing.label", help_text="The standing in the reader's language.")
    is_mailed = serializers.BooleanField()
    since = serializers.DateTimeField(allow_null=True)


class ScheduleViewSet(TeamScopedViewSet):
    """Schedules of the person's teams; one acts for whoever saved it last."""

    # Whoever saves it last.
    passing_fields = frozenset({"saved_by"})
    queryset = Schedule.objects.all()
    serializer_class = ScheduleSerializer
    search_fields = ["name"]
    ordering_fields = ["id", "name", "next_at", "created_at"]

    def narrow(self, rows: Any) -> Any:
        """Return the schedules of the person's teams."""
        return queries.schedules_for(rights.user_of(self.request))

    def perform_create(self, serializer: Any) -> None:
        """Store a schedule of the team given, else of the person's choice."""
        values = dict(serializer.validated_data)
        team = team_for_new(self.request, values)
        values.pop("team", None)
        serializer.instance = self._save(Schedule(team=team), values)

    def perform_update(self, serializer: Any) -> None:
        """Change one; it stays in its team."""
        refuse_other_team(serializer)
        with transaction.atomic():
            hold(serializer.instance)
            serializer.instance = self._save(serializer.instance, serializer.validated_data)

    def perform_destroy(self, instance: Schedule) -> None:
        """Delete one; its editions stay."""
        services.delete_schedule(schedule=instance, user=rights.user_of(self.request))

    @extend_schema(operation_id="schedules_deliver", request=None, responses={202: DeliverySerializer})
    @action(detail=True, methods=["post"])
    def deliver(self, request: Request, pk: int) -> Response:
        """Deliver now, out of turn; `deliveries` tells how it goes."""
        delivery = services.deliver_now(schedule=self.get_object(), user=rights.user_of(request), now=timezone.now())
        return Response(DeliverySerializer(delivery).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(operation_id="schedules_deliveries", responses=DeliverySerializer(many=True), filters=False)
    @action(detail=True, methods=["get"], pagination_class=None)
    def deliveries(self, request: Request, pk: int) -> Response:
        """Return the latest deliveries of a schedule."""
        return Response(
            DeliverySerializer(queries.deliveries_of(self.get_object(), rights.user_of(request)), many=True).data
        )

    @extend_schema(operation_id="schedules_recipients", responses=RecipientSerializer(many=True), filters=False)
    @action(detail=True, methods=["get"], pagination_class=None)
    def recipients(self, request: Request, pk: int) -> Response:
        """Return how each recipient stands: who is mailed, and who has not agreed to it."""
        return Response(RecipientSerializer(queries.recipients_of(self.get_object()), many=True).data)

    @extend_schema(
        operation_id="schedules_ask", request=None, responses={202: RecipientSerializer(many=True)}, filters=False
    )
    @action(detail=True, methods=["post"], pagination_class=None)
    def ask(self, request: Request, pk: int) -> Response:
        """Ask those recipients again who have not answered in a week; `recipients` tells when they were asked."""
        schedule = self.get_object()
        services.ask_again(schedule=schedule, user=rights.user_of(request), now=timezone.now())
        recipients = RecipientSerializer(queries.recipients_of(schedule), many=True).data
        return Response(recipients, status=status.HTTP_202_ACCEPTED)

    def _save(self, schedule: Schedule, changes: dict[str, Any]) -> Schedule:
        names = (
            "name", "report", "series", "language", "cron", "cron_timezone", "formats", "recipients", "is_active",
        )  # fmt: skip
        values = {name: changes.get(name, getattr(schedule, name)) for name in names}
        values["language"] = values["language"] or settings.LANGUAGE_CODE
        return services.save_schedule(
            schedule=schedule, user=rights.user_of(self.request), now=timezone.now(), **values
        )
