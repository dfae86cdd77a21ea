"""REST: what somebody has to look at."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.core.rest import APIView
from apps.home import activity, needs


class NeedSerializer(serializers.Serializer):
    """One thing to look at, in the reader's language, and the address of the page where to act."""

    severity = serializers.ChoiceField(choices=needs.SEVERITIES)
    title = serializers.CharField()
    detail = serializers.CharField(allow_blank=True)
    action = serializers.CharField(help_text="What to do at the address.")
    url = serializers.CharField(help_text="Address of a page, without the host.")


class NeedsSerializer(serializers.Serializer):
    """What needs the caller, the gravest first, and how many campaigns run and wait."""

    needs = NeedSerializer(many=True)
    running = serializers.IntegerField(help_text="Campaigns that run or are paused.")
    waiting = serializers.IntegerField(help_text="Campaigns that go on with nothing by themselves.")


class Needs(APIView):
    """Lost and troubled agents, failed and doubtful trials, failed analyses, full quotas, open questions."""

    @extend_schema(operation_id="needs", responses=NeedsSerializer)
    def get(self, request: Request) -> Response:
        """Return what the first page shows of it."""
        user, now = rights.user_of(request), timezone.now()
        under_way = activity.activity_of(user, now)
        body = {
            "needs": needs.needs_of(user, under_way.waits, now),
            "running": under_way.running,
            "waiting": under_way.waiting,
        }
        return Response(NeedsSerializer(body).data)
