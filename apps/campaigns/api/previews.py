"""REST: the shape of previews."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.campaigns.queries import Preview
from apps.core import messages


class LinkBytesSerializer(serializers.Serializer):
    """What goes over one link."""

    link = serializers.CharField()
    bytes = serializers.IntegerField()


class UnconnectedSerializer(serializers.Serializer):
    """What two nodes exchange between which no path is described."""

    sender = serializers.CharField()
    receiver = serializers.CharField()
    bytes = serializers.IntegerField()


class PointRowSerializer(serializers.Serializer):
    """One point: who measures it, and the factors' values as text."""

    nodes = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField())


class PreviewSerializer(serializers.Serializer):
    """What would be done: bytes (at most) and seconds are those of all trials together, `rows` the first points."""

    trials = serializers.IntegerField()
    points = serializers.IntegerField()
    lanes = serializers.IntegerField(help_text="Sets of nodes that measure; those that share nothing do so at once.")
    duration_s = serializers.FloatField()
    links = serializers.SerializerMethodField()
    unconnected = serializers.SerializerMethodField()
    factors = serializers.SerializerMethodField()
    rows = PointRowSerializer(many=True)
    warnings = serializers.SerializerMethodField()
    dates = serializers.ListField(child=serializers.DateTimeField())

    @extend_schema_field(LinkBytesSerializer(many=True))
    def get_links(self, preview: Preview) -> Any:
        """Return the bytes by link."""
        rows = [{"link": link, "bytes": amount} for link, amount in preview.link_bytes.items()]
        return LinkBytesSerializer(rows, many=True).data

    @extend_schema_field(UnconnectedSerializer(many=True))
    def get_unconnected(self, preview: Preview) -> Any:
        """Return the bytes of pairs without a path."""
        rows = [{"sender": a, "receiver": b, "bytes": amount} for (a, b), amount in preview.unconnected.items()]
        return UnconnectedSerializer(rows, many=True).data

    def get_factors(self, preview: Preview) -> list[str]:
        """Return the names of the columns of `rows`."""
        return [factor.name for factor in preview.factors]

    def get_warnings(self, preview: Preview) -> list[str]:
        """Return the warnings in the reader's language."""
        return [messages.render(warning) for warning in preview.warnings]


class CampaignPreviewSerializer(PreviewSerializer):
    """What a launch would do; `digest` stands for all of it that somebody defines, and is what a launch may name."""

    digest = serializers.CharField()
