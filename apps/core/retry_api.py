"""REST: why a row waits to be tried again."""

from rest_framework import serializers

from apps.core import isolation, messages


class RetrySerializer(serializers.Serializer):
    """Why a worker's last turn came to nothing, how often that was, and when the next is."""

    why = serializers.SerializerMethodField()
    attempts = serializers.IntegerField()
    next_at = serializers.DateTimeField()

    def get_why(self, retry: isolation.Retry) -> str:
        """Return the reason in the reader's language."""
        return messages.render(retry.why)
