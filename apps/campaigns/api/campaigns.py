"""REST: campaigns, and what is done with them."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import TeamField, TeamScopedViewSet, refuse_other_team, team_for_new
from apps.accounts.filters import RowFilter, team_filter
from apps.campaigns import definitions, queries, services
from apps.campaigns.api.brought_in import BroughtInField
from apps.campaigns.api.previews import CampaignPreviewSerializer, PreviewSerializer
from apps.campaigns.api.told import ToldField
from apps.campaigns.api.waits import CampaignWaitSerializer, campaign_wait
from apps.campaigns.models import Campaign, Event
from apps.campaigns.turns import sweep_turn
from apps.campaigns.waits import attach_waits
from apps.core import contract, messages
from apps.core.names import check_seen


class ProgressSerializer(serializers.Serializer):
    """What became of the trials, warm-ups included; `set_aside` of those measured were marked invalid by a person.

    `pending`, `succeeded` and `cancelled` are the states behind `waiting`, `measured` and `not_measured`.
    """

    total = serializers.IntegerField()
    measured = serializers.IntegerField()
    failed = serializers.IntegerField()
    not_measured = serializers.IntegerField()
    running = serializers.IntegerField()
    waiting = serializers.IntegerField()
    set_aside = serializers.IntegerField()
    warmups = serializers.IntegerField()
    pending = serializers.IntegerField(source="waiting")
    succeeded = serializers.IntegerField(source="measured")
    cancelled = serializers.IntegerField(source="not_measured")


class CampaignSerializer(serializers.ModelSerializer):
    """A campaign; `start_at`, `cron` and `cron_timezone` say when a launch will really start it.

    `overlap` says what becomes of a date of a series while the last one carried out has not ended.
    """

    team = TeamField()
    created_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)
    brought_in = BroughtInField()
    told_by_archive = ToldField("is_told")
    progress = serializers.SerializerMethodField()
    waiting = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        fields = [
            "id", "permanent_id", "team", "name", "goal", "state", "origin", "told_by_archive", "progress",
            "waiting", "start_at", "cron", "cron_timezone", "overlap", "skipped_dates", "next_at", "series",
            "cloned_from", "created_by", "brought_in", "launched_at", "finished_at", "analysed_at", "created_at",
            "updated_at",
            "visibility", "licence", "tags",
        ]  # fmt: skip
        read_only_fields = [
            "state", "origin", "skipped_dates", "next_at", "series", "cloned_from", "launched_at", "finished_at",
            "analysed_at", "visibility", "licence", "tags",
        ]  # fmt: skip

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, campaign: Campaign) -> dict[str, int]:
        """Return the counts of the campaign's trials."""
        if not hasattr(campaign, "progress"):
            queries.attach_progress([campaign])
        return ProgressSerializer(campaign.progress).data

    @extend_schema_field(CampaignWaitSerializer(allow_null=True))
    def get_waiting(self, campaign: Campaign) -> dict[str, Any] | None:
        """Return what the campaign waits for, null if nothing keeps it."""
        if not hasattr(campaign, "waits"):
            attach_waits([campaign], self.context["request"].user, timezone.now())
        return campaign_wait(campaign.waits)


class EventSerializer(serializers.ModelSerializer):
    """A line of the log, in the reader's language."""

    text = serializers.SerializerMethodField()

    class Meta:
        model = Event
        fields = ["id", "at", "level", "trial", "text"]

    def get_text(self, event: Event) -> str:
        """Return the line's text."""
        return messages.render(event.message)


class CampaignCloneSerializer(serializers.Serializer):
    """What the clone is called; “… (copy)” unless given."""

    name = serializers.CharField(
        required=False, allow_blank=True, max_length=200, default="", validators=[check_seen]
    )


class LaunchSerializer(serializers.Serializer):
    """What was agreed to: the `digest` of the preview that was looked at; without one, whatever the campaign is."""

    digest = serializers.CharField(required=False, max_length=64, default="")


class RerunSerializer(serializers.Serializer):
    """How many trials are run again."""

    count = serializers.IntegerField()


class CampaignFilter(filters.FilterSet):
    """By team, state, origin, series, what it was cloned from, and launch: from one moment, before another."""

    team = team_filter()
    series = RowFilter(queries.campaigns_for)
    cloned_from = RowFilter(queries.campaigns_for)
    launched_after = filters.IsoDateTimeFilter(field_name="launched_at", lookup_expr="gte")
    launched_before = filters.IsoDateTimeFilter(field_name="launched_at", lookup_expr="lt")

    class Meta:
        model = Campaign
        fields = ["state", "origin", "series", "cloned_from"]


class CampaignViewSet(TeamScopedViewSet):
    """Campaigns that the person may see; each action answers with the campaign as it then is."""

    queryset = Campaign.objects.filter(deleting_at=None).select_related("team", "created_by")
    serializer_class = CampaignSerializer
    filterset_class = CampaignFilter
    search_fields = ["name", "goal"]
    ordering_fields = ["id", "name", "state", "created_at", "launched_at", "finished_at"]

    def narrow(self, rows: QuerySet) -> QuerySet:
        """Return the campaigns that the person may see."""
        return queries.visible(rows, self.request.user)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page of campaigns with their progress and what they wait for."""
        page = super().paginate_queryset(queryset)
        queries.attach_progress(page or [])
        attach_waits(page or [], self.request.user, timezone.now())
        return page

    def perform_create(self, serializer: serializers.BaseSerializer) -> None:
        """Make a draft."""
        values = dict(serializer.validated_data)
        team = team_for_new(self.request, values)
        values.pop("team", None)
        serializer.instance = services.create_campaign(
            team=team, user=rights.user_of(self.request), now=timezone.now(), **values
        )

    def perform_update(self, serializer: Any) -> None:
        """Change a campaign; its team stays."""
        refuse_other_team(serializer)
        changes = serializer.validated_data
        serializer.instance = services.update_campaign(
            campaign=serializer.instance, user=rights.user_of(self.request), now=timezone.now(), **changes
        )

    def perform_destroy(self, instance: Campaign) -> None:
        """Delete a campaign that is not under way; a large one is no longer seen, and goes bit by bit."""
        reason = self.request.query_params.get("reason", "").replace("\0", "")
        services.delete_campaign(
            campaign=instance, user=rights.user_of(self.request), now=timezone.now(), reason=reason
        )

    @extend_schema(
        parameters=[OpenApiParameter("reason", str, description="Why; its permanent id goes on to say it.")]
    )
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Delete the campaign; a tombstone stays."""
        return super().destroy(request, *args, **kwargs)

    @extend_schema(request=LaunchSerializer, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def launch(self, request: Request, pk: str) -> Response:
        """Start a draft now, or schedule it if it has a later start or a cron expression.

        With a `digest`, only if it still is what `preview` gave that digest for.
        """
        wish = LaunchSerializer(data=contract.sent(request))
        wish.is_valid(raise_exception=True)
        # It is launched when its turn has come.
        with sweep_turn(rights.user_of(request)):
            return self._do(services.launch_campaign, now=timezone.now(), **wish.validated_data)

    @extend_schema(request=None, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Start no further trial."""
        return self._do(services.pause_campaign)

    @extend_schema(request=None, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Go on with a paused campaign."""
        return self._do(services.resume_campaign, now=timezone.now())

    @extend_schema(request=None, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Start nothing any more and stop what is under way."""
        return self._do(services.cancel_campaign, now=timezone.now())

    @extend_schema(request=None, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """Make a scheduled campaign a draft again."""
        return self._do(services.withdraw_campaign)

    @extend_schema(request=CampaignCloneSerializer, responses={201: CampaignSerializer})
    @action(detail=True, methods=["post"])
    def clone(self, request: Request, pk: str) -> Response:
        """Make a draft with the same experiments."""
        wish = CampaignCloneSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        clone = services.clone_campaign(
            campaign=self.get_object(), user=rights.user_of(request), **wish.validated_data
        )
        return Response(self.get_serializer(clone).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=RerunSerializer)
    @action(detail=True, methods=["post"], url_path="rerun-failed")
    def rerun_failed(self, request: Request, pk: str) -> Response:
        """Run again what failed, and only that."""
        count = services.rerun_failed(campaign=self.get_object(), user=rights.user_of(request))
        return Response({"count": count})

    @extend_schema(responses=CampaignPreviewSerializer)
    @action(detail=True)
    def preview(self, request: Request, pk: str) -> Response:
        """Say what a launch would do: trials, time, bytes on each link, dates, warnings; `launch` takes `digest`."""
        campaign = self.get_object()
        with sweep_turn(rights.user_of(request)):
            expanded = services.expand_campaign(campaign)
            expansions = [expansion for _experiment, expansion in expanded]
            preview = queries.preview_campaign(campaign, expansions, now=timezone.now())
            digest = definitions.digest_of(definitions.parts_of(campaign, expanded))
            return Response({**PreviewSerializer(preview).data, "digest": digest})

    @extend_schema(responses=EventSerializer(many=True))
    @action(detail=True, filterset_class=None, search_fields=[], ordering_fields=[])
    def events(self, request: Request, pk: str) -> Response:
        """Return the log, the latest line first."""
        page = super().paginate_queryset(queries.events_of(self.get_object()))
        return self.get_paginated_response(EventSerializer(page, many=True).data)

    def _do(self, service: Callable[..., Campaign], **values: Any) -> Response:
        campaign = service(campaign=self.get_object(), user=rights.user_of(self.request), **values)
        return Response(self.get_serializer(campaign).data)
