"""Fields of the inventory's REST interface."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.bench import units
from apps.core import messages


@extend_schema_field(
    {"oneOf": [{"type": "number"}, {"type": "string", "example": "1 Gbit/s", "maxLength": units.LONGEST_QUANTITY}]}
)
class QuantityValueField(serializers.Field):
    """A number in base units; a text with a unit, such as "1 Gbit/s", is read too. Shown as the number."""

    def __init__(self, kind: str, **kwargs: Any) -> None:
        self.kind = kind
        super().__init__(**({"required": False, "allow_null": True} | kwargs))

    def to_internal_value(self, data: Any) -> Any:
        """Return the number in base units, None for an empty text."""
        if isinstance(data, bool) or not isinstance(data, int | float | str):
            raise serializers.ValidationError(_("Give a number in base units, or a text with a unit."))
        if data == "" and self.allow_null:
            return None
        if isinstance(data, str) and len(data) > units.LONGEST_QUANTITY:
            text = _("Give at most %(limit)s characters.") % {"limit": units.LONGEST_QUANTITY}
            raise serializers.ValidationError(text)
        try:
            return units.parse_quantity(data if isinstance(data, str) else repr(data), self.kind)
        except units.UnitError as error:
            raise serializers.ValidationError(messages.render(error.message)) from error

    def to_representation(self, value: Any) -> Any:
        """Return the number as it is stored."""
        return value
