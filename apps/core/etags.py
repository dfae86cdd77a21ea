"""ETag and If-Match: a client changes only what it has read, where it asks for that.

A tag stands for what may be written of a thing, and for its state, not for what changes by itself while it is
looked at (progress, when an agent was last heard): who sends it back asks "has somebody changed it?". Where nothing
may be written it stands for all that is answered.
"""

from typing import Any

from django.db import connection
from django.utils.http import parse_etags
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core import versions

WRITES = ("PUT", "PATCH", "DELETE")
_ALWAYS = ("id", "state")


class Stale(exceptions.APIException):
    """The tag that was sent is not that of the thing as it now is."""

    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_detail = _("Somebody changed it since you read it: read it again, then repeat what you want of it.")
    default_code = "stale"


def is_changeable(view: Any) -> bool:
    """Return whether the address of a view takes a PUT, PATCH or DELETE."""
    handlers = getattr(view, "action_map", None) or {name: name for name in view.http_method_names}
    names = [name.lower() for name in WRITES if name.lower() in view.http_method_names]
    return any(hasattr(view, handlers[name]) for name in names if name in handlers)


def tag_of(view: Any, answer: Any) -> str:
    """Return the tag, in quotes, of what a GET answers."""
    names = _written_names(view)

    def kept_of(part: Any) -> dict[str, Any]:
        return {name: part[name] for name in part if name not in view.passing_fields and (not names or name in names)}

    return (
        f'"{versions.digest_of([kept_of(part) for part in answer] if isinstance(answer, list) else kept_of(answer))}"'
    )


def is_conditional(view: Any, request: Request) -> bool:
    """Return whether a request changes something on a condition; what an address does not take is refused as such."""
    method = str(request.method)
    is_taken = method.lower() in view.http_method_names and hasattr(view, method.lower())
    return is_taken and method in WRITES and "If-Match" in request.headers


def refuse_stale(view: Any, request: Request) -> None:
    """Raise `Stale` where If-Match names none of what the thing now is; its row stays locked until it is written."""
    if not is_conditional(view, request):
        return
    subject = view.get_subject()
    if subject is not None and connection.in_atomic_block:
        versions.lock_row(subject)
    # A proxy that compresses answers makes a tag weak; it stands for the same content.
    tags = {tag.removeprefix("W/") for tag in parse_etags(request.headers["If-Match"])}
    if "*" not in tags and tag_of(view, shown_now(view, request)) not in tags:
        raise Stale


def shown_now(view: Any, request: Request) -> Any:
    """Return what a GET of the address would answer."""
    action = getattr(view, "action", None)
    view.action = "retrieve"
    try:
        show = view.retrieve if hasattr(view, "retrieve") else view.get
        answer: Response = show(request, *view.args, **view.kwargs)
    finally:
        view.action = action
    return answer.data


def _written_names(view: Any) -> set[str]:
    """Return the names that make up the tag, none for all."""
    if not hasattr(view, "get_serializer"):
        return set()
    action = getattr(view, "action", None)
    view.action = "retrieve"
    try:
        fields: Any = getattr(view.get_serializer(), "fields", {})
    finally:
        view.action = action
    written = {name for name, field in fields.items() if not field.read_only}
    return written | set(_ALWAYS) if written else set()
