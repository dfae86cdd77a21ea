"""REST: why a campaign or a trial waits."""

from typing import Any

from rest_framework import serializers

from apps.campaigns.waits import WaitReason, Waits


class SubjectSerializer(serializers.Serializer):
    """What is waited for: a `kind` of node, link, file-system or experiment; `last_heard` when its agent called."""

    kind = serializers.CharField()
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    last_heard = serializers.DateTimeField(source="heard_at", allow_null=True)


class WaitSerializer(serializers.Serializer):
    """Why something waits: `reason` for programs, `text` for people, and what it waits `for`.

    `since` is when the wait began and `until` when it ends by itself, null where that is not known; `campaign` is
    who uses what is waited for, null unless the reader may see it.
    """

    reason = serializers.CharField(source="code")
    text = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    until = serializers.DateTimeField(allow_null=True)
    campaign = serializers.IntegerField(allow_null=True)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields and `for`, which Python keeps for itself."""
        return {**super().get_fields(), "for": SubjectSerializer(source="subjects", many=True)}


class CampaignWaitSerializer(WaitSerializer):
    """What most of a campaign's waiting trials wait for, how many `trials` they are, and what the others wait for.

    `is_idle` says that nothing of the campaign is under way meanwhile.
    """

    trials = serializers.IntegerField()
    is_idle = serializers.BooleanField()
    also = WaitSerializer(many=True)


def campaign_wait(waits: Waits) -> dict[str, Any] | None:
    """Return what a campaign waits for as REST tells it, None if it does not wait."""
    if waits.foremost is None:
        return None
    return {
        **WaitSerializer(waits.foremost).data,
        "trials": waits.foremost.trials,
        "is_idle": waits.is_idle,
        "also": WaitSerializer(waits.reasons[1:], many=True).data,
    }


def trial_wait(wait: WaitReason | None) -> dict[str, Any] | None:
    """Return why a trial waits as REST tells it, None if it does not wait."""
    return WaitSerializer(wait).data if wait else None
