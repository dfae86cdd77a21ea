"""Fields that an operation only shows: a body may repeat what they say, and is refused where it says something else.

To pass over another value would be to answer that a thing was changed, shared or opened when it was not.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.http import QueryDict
from django.urls import Resolver404, URLResolver, get_resolver, resolve
from django.utils.translation import gettext as _
from rest_framework import exceptions, serializers
from rest_framework.request import Request

from apps.bench import strict_json
from apps.core import contract, etags

# What stays until somebody changes it; times, counts, addresses and what is put together move by themselves.
_LASTING = (
    serializers.CharField,
    serializers.ChoiceField,
    serializers.BooleanField,
    serializers.RelatedField,
    serializers.ManyRelatedField,
    serializers.ListField,
)
_IDENTITY = re.compile(r"(^|[._])(id|pk)$")
_LAST_WORD = re.compile(r"/([a-z-]+)/\$?$")
_doors: dict[tuple[type, str], str] = {}


def refuse_others(view: Any, request: Request) -> None:
    """Raise a ValidationError that names each field that is only read and is not as a body says, and who changes it.

    What is made has no such field yet: any value is another.
    """
    if request.method not in ("POST", "PUT", "PATCH") or (request.method == "POST" and not _makes_something(view)):
        return
    # A body is read only where one is taken.
    compared = _compared(view, request)
    body: Any = request.data if compared else {}
    names = [name for name in body if name in compared] if isinstance(body, Mapping) else []
    if not names:
        return
    if request.method == "POST":
        errors = {name: [_of_new(view, request, name)] for name in names if body[name] is not None}
    else:
        current = etags.shown_now(view, request)
        errors = {
            name: [_of_known(view, request, name, current[name])]
            for name in names
            if name in current and _words(_given(body, name, current[name])) != _words(current[name])
        }
    if errors:
        raise exceptions.ValidationError(errors)


def _compared(view: Any, request: Request) -> set[str]:
    """Return the names of the fields of a body that are only read and do not change by themselves."""
    taker = contract.taker_of(view, request)
    taker = taker() if isinstance(taker, type) else taker
    fields: Mapping[str, Any] = getattr(taker, "fields", {})
    return {name for name, field in fields.items() if is_lasting(field)} - view.passing_fields


def is_lasting(field: Any) -> bool:
    """Return whether a field is only read, and says what stays until somebody changes it."""
    if not field.read_only or field.source == "get_absolute_url":
        return False
    return isinstance(field, _LASTING) or (
        isinstance(field, serializers.IntegerField) and bool(_IDENTITY.search(field.source or ""))
    )


def _makes_something(view: Any) -> bool:
    """Return whether a POST makes what it describes; other actions, such as a preview, look at it only."""
    return getattr(view, "action", None) in (None, "create", *getattr(view, "making_actions", ()))


def _given(body: Mapping[str, Any], name: str, current: Any) -> Any:
    return body.getlist(name) if isinstance(body, QueryDict) and isinstance(current, list) else body[name]


def _words(value: Any) -> Any:
    """Return what a value says, whether it came as JSON or in a form."""
    if isinstance(value, list):
        return [_words(item) for item in value]
    return "" if value is None else strict_json.dumps(value) if isinstance(value, bool | dict) else str(value)


def _of_new(view: Any, request: Request, name: str) -> str:
    door = _door(view, f"{request.path}1/", name)
    if door:
        text = _("It is only read here: leave it out, and change it afterwards with %(way)s.")
        return text % {"way": door.replace(f"{request.path}1/", f"{request.path}…/")}
    return _("It is only read here: leave it out.")


def _of_known(view: Any, request: Request, name: str, value: Any) -> str:
    now, door = strict_json.dumps(value, ensure_ascii=False, default=str), _door(view, request.path, name)
    if door:
        text = _("It is %(now)s, and only read here: leave it out, or change it with %(way)s.")
        return text % {"now": now, "way": door}
    return _("It is %(now)s, and only read here: leave it out.") % {"now": now}


def _door(view: Any, path: str, name: str) -> str:
    """Return the method and the address below that of a thing that take a field, "" for none."""
    key = (type(view), name)
    if key not in _doors:
        _doors[key] = next((f"{method} {word}" for method, word in _ways(path, name)), "")
    method, _space, word = _doors[key].partition(" ")
    return f"{method} {path}{word}/" if word else ""


def _ways(path: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield (method, last word) of each address below one that takes a field."""
    for word in sorted(set(_last_words(get_resolver().url_patterns))):
        try:
            handler: Any = resolve(f"{path}{word}/").func
        except Resolver404:
            continue
        for method in ("PATCH", "PUT", "POST"):
            action = getattr(handler, "actions", {}).get(method.lower(), method.lower())
            if hasattr(handler, "cls") and hasattr(handler.cls, action):
                other = handler.cls(**handler.initkwargs)
                other.request, other.format_kwarg, other.action, other.kwargs = None, None, action, {}
                fields: Any = getattr(contract.taker(other, method, action), "fields", {})
                if name in fields and not fields[name].read_only:
                    yield method, word


def _last_words(patterns: Any) -> Iterator[str]:
    for item in patterns:
        if isinstance(item, URLResolver):
            yield from _last_words(item.url_patterns)
        elif found := _LAST_WORD.search(str(item.pattern)):
            yield found[1]
