"""What every REST view shares: one shape for every error, and what a query asks for by name."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.core import exceptions as django_errors
from django.db import DataError
from django.db.models import Model, ProtectedError, RestrictedError
from django.utils.translation import gettext as _
from rest_framework import exceptions, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import as_serializer_error
from rest_framework.views import exception_handler as default_handler
from rest_framework.views import set_rollback

from apps.bench import sweep, units
from apps.bench import toolkit as tools
from apps.bench.text import Message
from apps.core import contract, immutability, messages, races, withheld
from apps.core.errors import ConflictError
from apps.core.json_bodies import JsonTooLarge
from apps.core.limits.policies import LimitExceededError

T = TypeVar("T")


class Conflict(exceptions.APIException):
    """What was asked for does not fit what is there now."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class _TooMany(exceptions.Throttled):
    """More than a policy allows; `wait` becomes the header Retry-After."""

    def __init__(self, text: str, wait_s: int) -> None:
        super().__init__(detail=text)
        self.wait = wait_s


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return ``{"detail": text, "fields": {name: [text, ...]}}`` for every error a client can cause.

    A deletion that would break something gives 409 with ``"dependents": [text, ...]`` beside it.
    """
    if isinstance(error, ProtectedError):
        return _conflict_of(error.protected_objects, context.get("request"))
    if isinstance(error, RestrictedError):
        return _conflict_of(error.restricted_objects, context.get("request"))
    response = default_handler(_as_api_error(error), context)
    if response is not None:
        response.data = _shaped(response.data)
    return response


def field_errors(errors: Mapping[str, Message]) -> exceptions.ValidationError:
    """Return the REST error of messages by field, as the science reports them."""
    return exceptions.ValidationError({name: [messages.render(message)] for name, message in errors.items()})


def one_of(query: Mapping[str, Any], name: str, choices: Mapping[str, T]) -> T | None:
    """Return what a query asks for by name, the first unless it asks, None if there is none; else the REST error."""
    wanted = query.get(name) or next(iter(choices), None)
    if wanted is None:
        return None
    if wanted not in choices:
        raise unknown_choices({name: choices})
    return choices[wanted]


def unknown_choices(choices: Mapping[str, Iterable[str]]) -> exceptions.ValidationError:
    """Return the REST error of fields that name what is not there, with what is: {field: names there are}."""
    return exceptions.ValidationError({name: [contract.one_of(names)] for name, names in choices.items()})


def describe(objects: Iterable[Model]) -> list[str]:
    """Return "kind: name" for objects, sorted, each once."""
    return sorted({f"{item._meta.verbose_name}: {item}" for item in objects})


def _as_api_error(error: Exception) -> Exception:
    if isinstance(error, ConflictError):
        return Conflict(" ".join(error.messages))
    if isinstance(error, django_errors.ValidationError):
        return exceptions.ValidationError(as_serializer_error(error))
    if isinstance(error, tools.ParameterError | sweep.SweepError):
        return field_errors(error.errors)
    if isinstance(error, units.UnitError):
        return exceptions.ValidationError([messages.render(error.message)])
    if isinstance(error, tools.ToolFailure):
        return exceptions.ValidationError(
            [messages.render(part) for part in (error.message, error.remedy) if part is not None]
        )
    if isinstance(error, django_errors.RequestDataTooBig):
        return JsonTooLarge()
    if isinstance(error, DataError):
        return exceptions.ValidationError(
            [_("A value cannot be stored: look for control characters and huge numbers.")]
        )
    if isinstance(error, LimitExceededError):
        return _TooMany(messages.render(error.message), error.retry_after_s)
    if immutability.is_refusal(error):
        return Conflict(str(immutability.REFUSED))
    if races.is_collision(error):
        races.note(error)
        return Conflict(str(races.CHANGED))
    if races.is_lost(error):
        races.note(error)
        return exceptions.NotFound(str(races.GONE))
    return error


def _conflict_of(objects: Iterable[Model], request: Request | None) -> Response:
    set_rollback()
    body = {
        "detail": _("Others depend on it: change or delete what is listed in “dependents” first."),
        "fields": {},
        "dependents": describe(withheld.shown(objects, request.user if request else AnonymousUser())),
    }
    return Response(body, status=status.HTTP_409_CONFLICT)


def _shaped(data: Any) -> dict[str, Any]:
    if isinstance(data, dict) and "detail" in data and not isinstance(data["detail"], list | dict):
        return {"detail": str(data["detail"]), "fields": {}}
    fields = _flattened(data)
    general = [text for name in ("", "non_field_errors", "__all__") for text in fields.pop(name, [])]
    if not general:
        general = [_("Some fields are wrong: see “fields”.")]
    return {"detail": " ".join(general), "fields": fields}


def _printable(text: str) -> str:
    """Return a text, which may quote what was sent, with the lone surrogates written out that UTF-8 cannot carry."""
    return text.encode("utf-8", "backslashreplace").decode()


def _flattened(data: Any, path: str = "") -> dict[str, list[str]]:
    """Return {"factors.0.name": [text, ...]} for errors nested to any depth."""
    if isinstance(data, Mapping):
        parts: Iterable[tuple[object, Any]] = data.items()
    elif isinstance(data, list) and any(isinstance(item, Mapping | list) for item in data):
        parts = enumerate(data)
    else:
        return {path: [_printable(str(item)) for item in (data if isinstance(data, list) else [data])]}
    errors: dict[str, list[str]] = {}
    for name, inner in parts:
        errors |= _flattened(inner, f"{path}.{name}" if path else str(name))
    return errors
