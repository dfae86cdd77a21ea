"""Fields of REST answers that every app uses."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.bench.text import Message
from apps.core import messages


class TranslatedField(serializers.CharField):
    """A text of the science (a msgid, or a message with its values) in the reader's language; to read only."""

    def to_representation(self, value: Mapping[str, Any] | Message | str | None) -> str:
        """Return the translated text."""
        return messages.render(value)
