"""REST: histories, the changes found in them, and what people say of these."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.models import Role
from apps.bench import statistics
from apps.campaigns.api.told import ToldField
from apps.comparison.history import changes, charts, points, queries, series, services
from apps.comparison.models import ChangePoint
from apps.core import rest
from apps.core.api import unknown_choices
from apps.results import queries as results


class RepeatedSerializer(serializers.Serializer):
    """What was measured again and again: a tool between the same nodes; `lane` names its histories."""

    lane = serializers.IntegerField()
    tool = serializers.CharField(source="tool.slug")
    nodes = serializers.CharField()
    team = serializers.CharField(source="team.slug")
    campaigns = serializers.IntegerField()
    last_at = serializers.DateTimeField(source="last")


class HistoryPointSerializer(serializers.Serializer):
    """A point of the sweep that was measured: its name in addresses, what tells it apart, in how many campaigns."""

    point = serializers.CharField(source="setting.key")
    label: Any = serializers.CharField()
    parameters = serializers.DictField(source="setting.parameters")
    campaigns = serializers.IntegerField(source="setting.campaigns")
    is_untold = serializers.BooleanField(
        source="setting.is_untold", help_text="Whether more is not known of some of its runs, and may differ."
    )


class HistoryLevelSerializer(serializers.Serializer):
    """What one campaign measured, in base units; `change` is "" or the state of the change before it."""

    campaign = serializers.IntegerField()
    name = serializers.CharField()
    at = serializers.DateTimeField()
    n = serializers.IntegerField()
    median = serializers.FloatField()
    ci_low = serializers.FloatField(allow_null=True)
    ci_high = serializers.FloatField(allow_null=True)
    ci_confidence = serializers.FloatField(
        allow_null=True, help_text="What the interval has, 0 to 1; null: not known."
    )
    mean = serializers.FloatField()
    minimum = serializers.FloatField()
    maximum = serializers.FloatField()
    unit = serializers.CharField()
    tool_version = serializers.CharField()
    change = serializers.CharField()
    flagged = serializers.IntegerField(help_text="How many of the figures have a flag that bears on the metric.")
    flags = serializers.DictField(child=serializers.IntegerField(), help_text="How many of them by flag.")
    told_by_archive = ToldField()


class FactChangeSerializer(serializers.Serializer):
    """A fact that an agent told differently after a change; null where it was not there."""

    path = serializers.CharField()
    before = serializers.JSONField()
    after = serializers.JSONField()


class NodeChangeSerializer(serializers.Serializer):
    """The facts of a node that changed with the level, and how many more did."""

    node = serializers.CharField()
    facts = FactChangeSerializer(many=True)
    more = serializers.IntegerField()


class LevelChangeSerializer(serializers.Serializer):
    """A change of level before a campaign, medians before and after in base units; p of the whole series."""

    campaign = serializers.IntegerField(source="level.campaign")
    previous_campaign = serializers.IntegerField(source="previous.campaign")
    before = serializers.FloatField()
    after = serializers.FloatField()
    ratio = serializers.FloatField()
    p = serializers.FloatField()
    correlation = serializers.FloatField(help_text="Of neighbouring campaigns about the levels, 0 to 0.99.")
    rival = serializers.ChoiceField(
        choices=["", *statistics.RIVALS], help_text="What would tell the medians nearly as well, “” for nothing."
    )
    is_better = serializers.BooleanField(allow_null=True)
    state = serializers.CharField(help_text="What a person says of it, “found” while nobody did.")
    explanation = serializers.CharField(source="decision.explanation", default="")
    decided_by = serializers.CharField(source="decision.decided_by.username", default=None, allow_null=True)
    decided_at = serializers.DateTimeField(source="decision.decided_at", default=None, allow_null=True)
    versions = serializers.ListField(child=serializers.CharField(), allow_null=True, help_text="Before and after.")
    is_version_known = serializers.BooleanField(help_text="Of all figures of both campaigns.")
    nodes = NodeChangeSerializer(many=True)
    untold = serializers.ListField(
        child=serializers.CharField(), help_text="Nodes of which no facts are known from before it, or from after it."
    )


class TrendSerializer(serializers.Serializer):
    """The line through the medians, at the first and at the last campaign, in base units."""

    before = serializers.FloatField()
    after = serializers.FloatField()


class HistorySerializer(serializers.Serializer):
    """One metric at one point over the campaigns that measured it alike; null and empty where nothing was."""

    lane = serializers.IntegerField()
    tool = serializers.CharField()
    nodes = serializers.CharField()
    team = serializers.CharField()
    metric = serializers.CharField(allow_null=True)
    metrics = serializers.ListField(child=serializers.CharField())
    point = serializers.CharField(allow_null=True)
    settings = HistoryPointSerializer(many=True)
    levels = HistoryLevelSerializer(many=True)
    changes = LevelChangeSerializer(many=True)
    trend = TrendSerializer(allow_null=True, help_text="Of medians that rise or fall steadily: no change of level.")
    correlation = serializers.FloatField(
        help_text="Of neighbouring campaigns about the levels told, else about one level; 0 where no steps are."
    )
    is_unclear = serializers.BooleanField(
        help_text="Steps are seen that slow waves or a trend would tell as well: no change is told."
    )


class DecisionOnChangeSerializer(serializers.Serializer):
    """What a person says of the change before a campaign; "open" takes it back."""

    point = serializers.CharField(required=False, help_text="As `settings` names it; the usual one unless given.")
    metric = serializers.CharField(required=False, help_text="The usual one unless given.")
    campaign = serializers.IntegerField(min_value=1)
    state = serializers.ChoiceField(choices=[*ChangePoint.State.choices, (services.OPEN, services.OPEN)])
    explanation = serializers.CharField(required=False, allow_blank=True, default="", max_length=services.LONGEST)


class HistoryList(rest.ListAPIView):
    """What was measured in several campaigns between the same nodes, the most often repeated first."""

    serializer_class = RepeatedSerializer
    filter_backends: list[Any] = []

    def get_queryset(self) -> Any:
        """Return what the user's teams repeated."""
        return series.known_histories(rights.user_of(self.request), least=2)


class History(rest.APIView):
    """A metric over repeated campaigns: levels, changes, and what else changed on the nodes at that time."""

    @extend_schema(
        operation_id="histories_retrieve",
        parameters=[
            OpenApiParameter("point", str, description="As `settings` names it; the most repeated unless given."),
            OpenApiParameter("metric", str, description="Name of a metric; the tool's primary one unless given."),
        ],
        responses=HistorySerializer,
    )
    def get(self, request: Request, pk: int) -> Response:
        """Return one history of a lane."""
        lane_history = _find(request, pk, request.query_params)
        return Response(HistorySerializer(_body(request, pk, lane_history)).data)


class DecideOnChange(rest.APIView):
    """What people say of the changes in a history."""

    @extend_schema(operation_id="histories_decide", request=DecisionOnChangeSerializer, responses=HistorySerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Confirm, explain or dismiss a change, or take that back; answers with the history as it then is."""
        lane = queries.lane_for(rights.user_of(request), pk)
        rights.require(request.user, lane.experiment.campaign.team, Role.OPERATOR)
        wish = DecisionOnChangeSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        values = wish.validated_data
        lane_history = _find(request, pk, values)
        if lane_history is None:
            raise serializers.ValidationError({"campaign": [_("Nothing was measured here yet.")]})
        try:
            services.settle_change(
                subject=lane_history.subject,
                levels=lane_history.levels,
                campaign=values["campaign"],
                state=values["state"],
                explanation=values["explanation"],
                user=rights.user_of(request),
                now=timezone.now(),
            )
        except services.NeedsExplanation as error:
            text = _("Say why, so that the next reader knows: an explanation needs words.")
            raise serializers.ValidationError({"explanation": [text]}) from error
        except services.NoSuchChange as error:
            text = _("There is no change at this campaign any more: more figures moved or removed it.")
            raise serializers.ValidationError({"campaign": [text]}) from error
        return Response(HistorySerializer(_body(request, pk, lane_history)).data)


def _find(request: Request, pk: int, query: Any) -> queries.LaneHistory | None:
    """Return the history that a query names; a REST error lists what there is if it names none."""
    point, metric = query.get("point"), query.get("metric")
    lane_history = queries.find(rights.user_of(request), pk, point=point, metric=metric)
    if lane_history and (missing := queries.missing_of(lane_history, point=point, metric=metric)):
        raise unknown_choices(missing)
    return lane_history


def _body(request: Request, pk: int, lane_history: queries.LaneHistory | None) -> dict[str, Any]:
    lane = lane_history.lane if lane_history else queries.lane_for(rights.user_of(request), pk)
    change_list = (
        changes.shown_changes(lane_history.subject, lane_history.levels, rights.user_of(request))
        if lane_history
        else []
    )
    course = changes.course_of(lane_history.levels if lane_history else ())
    return {
        "lane": lane.pk,
        "tool": lane.experiment.tool,
        "nodes": lane_history.nodes if lane_history else results.lane_names(lane.experiment)[lane.pk],
        "team": lane.experiment.campaign.team.slug,
        "metric": lane_history.subject.metric.name if lane_history else None,
        "metrics": [metric.name for metric in lane_history.metrics] if lane_history else [],
        "point": lane_history.setting.key if lane_history else None,
        "settings": _labelled(lane_history) if lane_history else [],
        "trend": course.trend,
        "correlation": course.correlation,
        "is_unclear": course.is_unclear,
        "levels": charts.flat_rows(lane_history.subject, lane_history.levels, change_list) if lane_history else [],
        "changes": change_list,
    }


def _labelled(lane_history: queries.LaneHistory) -> list[dict[str, Any]]:
    names = points.names_apart([setting.parameters for setting in lane_history.settings])
    return [
        {"setting": setting, "label": points.label_of(lane_history.subject.tool, setting.parameters, names)}
        for setting in lane_history.settings
    ]
