"""REST: who brought something in from an archive, told beside whatever came so."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.campaigns import brought_in


class BroughtInSerializer(serializers.Serializer):
    """Who brought it in and when, and the permanent id and the author that the archive says.

    `agrees` says whether it is what was known here, and was deleted; else all of it is the word of who brought it in.
    """

    by = serializers.CharField()
    at = serializers.DateTimeField(allow_null=True)
    permanent_id = serializers.CharField()
    made_by = serializers.CharField()
    agrees = serializers.BooleanField(source="is_known")


class BroughtInField(BroughtInSerializer):
    """The same of a row's `brought_in` column, to which `source` may lead; null of what is from here."""

    def __init__(self, source: str = "", **kwargs: Any) -> None:
        text = "Who brought it in from an archive; null of what was made here."
        super().__init__(
            source=source or None, **{"read_only": True, "help_text": text, "allow_null": True, **kwargs}
        )

    def get_attribute(self, instance: Any) -> Any:
        """Return what the column says."""
        column = super().get_attribute(instance)
        return brought_in.read(column) if isinstance(column, Mapping) else column
