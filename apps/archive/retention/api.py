"""REST: a team's rules of retention."""

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import get_scoped_or_404
from apps.accounts.models import Role, Team
from apps.archive.models import RetentionRule
from apps.archive.retention import queries, services
from apps.core.rest import APIView


class RetentionRuleSerializer(serializers.ModelSerializer):
    """What becomes of one kind of data `days` after the run; `runs_done` and `bytes_freed` by it so far."""

    class Meta:
        model = RetentionRule
        fields = ["kind", "days", "action", "runs_done", "bytes_freed", "updated_at"]
        read_only_fields = ["runs_done", "bytes_freed", "updated_at"]


class RetentionPreviewSerializer(serializers.Serializer):
    """What a rule would do now: runs concerned, things of theirs that are stored, the bytes these take up."""

    kind = serializers.CharField()
    days = serializers.IntegerField()
    action = serializers.CharField()
    runs = serializers.IntegerField()
    things = serializers.IntegerField()
    bytes = serializers.IntegerField()


def _rules(**kwargs: Any) -> Any:
    """Return the serializer of what is sent: one rule of each kind, for what it would do is counted over all runs."""
    kwargs |= {"many": True, "max_length": len(RetentionRule.Kind.values)}
    return RetentionRuleSerializer(**kwargs)


def _wishes(request: Request) -> list[dict[str, Any]]:
    wish = _rules(data=request.data)
    wish.is_valid(raise_exception=True)
    wishes: list[dict[str, Any]] = wish.validated_data
    if len({rule["kind"] for rule in wishes}) < len(wishes):
        raise serializers.ValidationError([_("Give one rule of each kind: leave the others out.")])
    return wishes


class TeamRetention(APIView):
    """A team's rules of retention; what no rule names is kept for ever, samples always are."""

    passing_fields = frozenset({"runs_done", "bytes_freed", "updated_at"})

    @extend_schema(operation_id="teams_retention", responses=RetentionRuleSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Return the rules."""
        return self._answer(self._team(slug))

    @extend_schema(
        operation_id="teams_set_retention",
        request=_rules(),
        responses=RetentionRuleSerializer(many=True),
    )
    def put(self, request: Request, slug: str) -> Response:
        """Set the rules; one that is not given ends."""
        team = self._team(slug)
        rights.require(request.user, team, Role.MANAGER)
        wishes = {wish["kind"]: wish for wish in _wishes(request)}
        with transaction.atomic():
            for kind in RetentionRule.Kind.values:
                wish = wishes.get(kind, {})
                services.set_rule(
                    team=team,
                    user=rights.user_of(request),
                    kind=kind,
                    days=wish.get("days"),
                    action=wish.get("action", RetentionRule.Action.PACK),
                )
        return self._answer(team)

    def get_subject(self) -> Team:
        """Return the team whose rules they are; 404 for one that the person may not see."""
        return self._team(self.kwargs["slug"])

    def _team(self, slug: str) -> Team:
        return get_scoped_or_404(rights.visible(Team.objects.all(), self.request.user, path="pk"), slug=slug)

    def _answer(self, team: Team) -> Response:
        return Response(RetentionRuleSerializer(RetentionRule.objects.filter(team=team), many=True).data)


class TeamRetentionPreview(TeamRetention):
    """What rules of retention would take away."""

    http_method_names = ["post", "options"]

    @extend_schema(
        operation_id="teams_preview_retention",
        request=_rules(),
        responses=RetentionPreviewSerializer(many=True),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Return what the rules would do now; nothing is changed."""
        team = self._team(slug)
        rights.require(request.user, team, Role.MANAGER)
        now = timezone.now()
        names = ("kind", "days", "action")
        previews = [
            queries.preview(
                team=team, now=now, **{"action": "pack"} | {name: wish[name] for name in names if name in wish}
            )
            for wish in _wishes(request)
        ]
        return Response(RetentionPreviewSerializer(previews, many=True).data)
