"""REST: which processes claim to be an agent, and what is wrong on its node."""

from rest_framework import serializers

from apps.agents.models import AgentInstance


class TroubleSerializer(serializers.Serializer):
    """What an agent says is wrong on its node; until what `stops_measuring` is gone the node's trials wait."""

    code = serializers.CharField(max_length=32)
    detail = serializers.CharField(allow_blank=True)
    since = serializers.DateTimeField(allow_null=True)
    stops_measuring = serializers.BooleanField()


class InstanceSerializer(serializers.ModelSerializer):
    """A process that works, or wants to work, for a node."""

    class Meta:
        model = AgentInstance
        fields = [
            "key", "host", "address", "version", "admitted_at", "replaced_at", "left_at", "refused_at",
            "refused_last_at", "refused_reports",
        ]  # fmt: skip


class ChoiceSerializer(serializers.Serializer):
    """Which process is the right one, by its `key`."""

    instance = serializers.UUIDField()
