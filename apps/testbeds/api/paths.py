"""REST: the path between two nodes or clusters, and what it allows."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.core.rest import APIView
from apps.testbeds import queries
from apps.testbeds.models import Cluster, Link, Node


class PathLinkSerializer(serializers.ModelSerializer):
    """A link on the way."""

    a = serializers.CharField(source="end_a.name")
    b = serializers.CharField(source="end_b.name")

    class Meta:
        model = Link
        fields = ["id", "name", "a", "b", "capacity_bps", "rtt_s", "mtu"]


class LimitSerializer(serializers.Serializer):
    """What so many clients reach together in bit/s; `links` are the shared links that are full, by name."""

    clients = serializers.IntegerField()
    total_bps = serializers.FloatField(allow_null=True)
    tcp_bps = serializers.FloatField(allow_null=True)
    links: Any = serializers.StringRelatedField(many=True)


class PathSerializer(serializers.Serializer):
    """A path: its links in order, the bottleneck, what arithmetic says of it, and the ceilings of several clients.

    Rates in bit/s, times in s, sizes in bytes; null where a link's figure is not known. `assumed_mtu` is the MTU
    with which the TCP ceiling was computed if that of the path is not known.
    """

    client = serializers.CharField(source="source.name")
    server = serializers.CharField(source="destination.name")
    hops = serializers.IntegerField(source="path.hops")
    links = PathLinkSerializer(many=True)
    bottleneck = PathLinkSerializer(allow_null=True)
    capacity_bps = serializers.FloatField(allow_null=True)
    rtt_s = serializers.FloatField(allow_null=True)
    mtu = serializers.IntegerField(allow_null=True)
    assumed_mtu = serializers.IntegerField(allow_null=True)
    bdp_bytes = serializers.IntegerField(allow_null=True)
    tcp_ceiling_bps = serializers.FloatField(allow_null=True)
    unscaled_bps = serializers.FloatField(allow_null=True)
    ceilings = LimitSerializer(many=True, source="limits")


class PathView(APIView):
    """Which links lie between two ends, and what they allow."""

    @extend_schema(
        operation_id="paths_retrieve",
        parameters=[
            OpenApiParameter("from", str, required=True, description="node:ID, cluster:ID, or the id of a node."),
            OpenApiParameter("to", str, required=True, description="node:ID, cluster:ID, or the id of a node."),
            OpenApiParameter("clients", int, description="Ceilings for one to so many clients."),
        ],
        responses=PathSerializer,
    )
    def get(self, request: Request) -> Response:
        """Return the path from the first client to the first server; 404 if no links join them."""
        source, destination = _end(request, "from"), _end(request, "to")
        report = queries.report_path(source, destination, _clients(request))
        if report is None:
            raise NotFound(
                _("No links of the inventory join %(a)s and %(b)s: describe the links on the way.")
                % {"a": source, "b": destination}
            )
        return Response(PathSerializer(report).data)


def _end(request: Request, name: str) -> Node | Cluster:
    kind, colon, number = request.query_params.get(name, "").rpartition(":")
    rows: dict[str, Any] = {"node": Node.objects.select_related("testbed"), "cluster": Cluster.objects.all()}
    is_readable = (kind or "node") in rows and bool(kind) == bool(colon) and number.isdecimal() and len(number) < 19
    end = rights.visible(rows[kind or "node"], request.user).filter(pk=int(number)).first() if is_readable else None
    if end is None:
        raise serializers.ValidationError({name: [_("Give node:ID or cluster:ID of something of your teams.")]})
    return end


def _clients(request: Request) -> int | None:
    text = request.query_params.get("clients", "")
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text[:9]) <= queries.MOST_CLIENTS:
        raise serializers.ValidationError(
            {"clients": [_("Give a number from 1 to %(most)s.") % {"most": queries.MOST_CLIENTS}]}
        )
    return int(text)
