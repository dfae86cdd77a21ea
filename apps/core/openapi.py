"""How the OpenAPI schema describes what every REST answer has in common."""

from typing import Any

from django.core.exceptions import FieldDoesNotExist
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry, force_instance
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.permissions import AllowAny

from apps.core import entries, etags, rest

# Why any operation may refuse, by status.
_REFUSALS = {
    "400": "Wrong input: `fields` names what, and what to do.",
    "404": "Not there, or not yours.",
    "406": "Only JSON is answered here.",
    "429": "Too many requests: slow down.",
    "503": "The database or the message broker is away, or too busy: ask again after `Retry-After` seconds.",
}
_OF_THE_SIGNED_IN = {"401": "No token, or not a good one.", "403": "Your role, or your token, does not allow it."}
_OF_WRITES = {
    "409": "It does not fit what is there now; `dependents` lists what depends on it.",
    "413": "Too large.",
    "415": "Bodies of this type are not read here.",
    "504": "The database's answer was lost: it is not known whether this was carried out. Look before you repeat it.",
    "507": "The server's disk is too full: `detail` says how much is needed and free.",
}
_OF_CONDITIONS = {"412": "Somebody changed it since it was read: `If-Match` names none of what it is now."}
_IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The `ETag` of the GET that this change rests on: 412 if somebody changed it since.",
)
_ETAG = OpenApiParameter(
    "ETag",
    str,
    OpenApiParameter.HEADER,
    response=[200],
    description="Stands for what may be written of it, and its state; `If-Match` takes it.",
)


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
    links: Any = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField(allow_null=True)),
        required=False,
        help_text="With 409: the pages (`url`) of what depends on it (`text`).",
    )


class Schema(AutoSchema):
    """Adds the one shape of all errors to every operation, and that bodies hold nothing unknown."""

    def query_parameters(self) -> list[dict[str, Any]]:
        """Return the parameters of the address that the operation takes, as OpenAPI describes them."""
        self.registry = ComponentRegistry()
        return [item for item in self._get_parameters() if item["in"] == "query"]

    def get_override_parameters(self) -> list[Any]:
        """Return the headers by which one changes only what one has read."""
        if not (isinstance(self.view, rest.Strict) and etags.is_changeable(self.view)):
            return []
        if self.method in etags.WRITES:
            return [_IF_MATCH]
        is_one = self.method == "GET" and (self.view_action or "retrieve") == "retrieve"
        return [_ETAG] if is_one else []

    def _is_create_operation(self) -> bool:
        """Return whether an answer is 201: `making_actions` of a view make something, too."""
        return super()._is_create_operation() or self.view_action in getattr(self.view, "making_actions", ())

    @property
    def view_action(self) -> str:
        """The name of the action, "" in a plain view."""
        return getattr(self.view, "action", "") or ""

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        refusals = dict(_REFUSALS)
        if not any(isinstance(item, AllowAny) for item in self.view.get_permissions()):
            refusals |= _OF_THE_SIGNED_IN
        if self.method not in ("GET", "HEAD"):
            refusals |= _OF_WRITES
        if self.method in etags.WRITES:
            refusals |= _OF_CONDITIONS
        for code, text in refusals.items():
            if code not in bodies or "content" not in bodies[code]:
                description = bodies.get(code, {}).get("description", text)
                answer = OpenApiResponse(ErrorSerializer, description)
                bodies[code] = self._get_response_for_code(answer, code, ["application/json"], direction)
        return dict(sorted(bodies.items()))

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        """Return how a field is described; a list, or an object of any names, has so many entries at most."""
        described = super()._map_serializer_field(field, direction, bypass_extensions)
        return _bounded(described, field) if direction == "request" else described

    def _unwrap_list_serializer(self, serializer: Any, direction: Any) -> Any:
        """Return how a list of objects is described."""
        described = super()._unwrap_list_serializer(serializer, direction)
        return _bounded(described, serializer) if direction == "request" else described

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        serializer = force_instance(serializer)
        for item in serializer.fields.values():
            _loosen(item, getattr(getattr(serializer, "Meta", None), "model", None))
        described: dict[str, Any] = super()._map_basic_serializer(serializer, direction)
        if direction == "request":
            described["additionalProperties"] = False
        return described

    def _postprocess_serializer_schema(self, schema: Any, serializer: Any, direction: Any) -> Any:
        """Keep what is only read in bodies: it may be repeated there (`read_only`), and is never required."""
        ignored = [name for name, item in schema.get("properties", {}).items() if item.get("readOnly")]
        component = super()._postprocess_serializer_schema(schema, serializer, direction)
        if direction == "request":
            component.setdefault("properties", {}).update({name: {"readOnly": True} for name in ignored})
        return component


def _bounded(described: Any, field: Any) -> Any:
    """Return a description with the bound of a list, or of an object of any names, as `contract` holds it."""
    most = entries.most_of(field) if isinstance(field, serializers.Field) and described else None
    name = {"array": "maxItems", "object": "maxProperties"}.get(described.get("type")) if most is not None else None
    return described | {name: most} if name else described


def _loosen(field: Any, model: Any) -> None:
    """Have what is only read be null, or empty, where its model says so; serializers say it of what is written."""
    if not field.read_only or model is None or field.source == "*":
        return
    for name in field.source.split("."):
        try:
            column = model._meta.get_field(name)
        except FieldDoesNotExist:
            return
        field.allow_null = field.allow_null or getattr(column, "null", False)
        model = column.related_model
        if model is None:
            break
    if isinstance(field, serializers.ChoiceField):
        field.allow_blank = field.allow_blank or column.blank
