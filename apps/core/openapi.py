"""How the OpenAPI schema describes what every REST answer has in common."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers


class ErrorSerializer(serializers.Serializer):
    """What went wrong, as `apps.core.api.exception_handler` says it."""

    detail = serializers.CharField(help_text="What is wrong, in the reader's language.")
    # The name is that of the answer; a serializer's own `fields` is reached by other ways.
    fields: Any = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), help_text="What is wrong with each field."
    )
    dependents = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="With 409: what depends on the thing to delete."
    )


class Schema(AutoSchema):
    """Adds the one shape of all errors to every operation."""

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        error = OpenApiResponse(ErrorSerializer, "Refused: the status says why, the body what to do.")
        bodies.setdefault("4XX", self._get_response_for_code(error, "4XX", direction=direction))
        return bodies
