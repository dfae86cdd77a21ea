"""What an operation of the REST interface takes, read from its schema; whatever else is sent is refused by name.

A name with a slip of the pen would otherwise be obeyed by doing something else: starting now, showing everything.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from django.http import QueryDict
from django.utils.translation import gettext as _
from rest_framework import exceptions, serializers
from rest_framework.fields import HiddenField
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.core import documents, entries, storable

# As django-filter reads them; whatever else it would take for no filter.
_TRUTHS = ("true", "false", "1", "0")
_WITH_BODY = ("POST", "PUT", "PATCH")
NON_FIELD_ERRORS = "non_field_errors"
# So many names are listed where none is near.
MOST_NAMES = 40


@dataclass(frozen=True)
class AddressParameter:
    """A parameter of an address: whether it may stand there several times, and its values if they are known."""

    many: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shape:
    """The names that an object may have, each with the shape of its value; `each`: that of the members of a list.

    A value without a shape is any: its field judges it. `required` are the names that it must have, `most` how many
    entries a list may have.
    """

    names: Mapping[str, "Shape | None"] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    each: "Shape | None" = None
    most: int | None = None


@dataclass(frozen=True)
class Contract:
    """What one operation takes: parameters by name (any other name, too, if `is_free`), bodies by media type.

    `takers` are the serializers that the bodies are described by.
    """

    parameters: Mapping[str, AddressParameter]
    is_free: bool
    bodies: Mapping[str, Shape | None]
    takers: Mapping[str, Any]


T = TypeVar("T")
NOTHING = Shape()
# What is read of a body where none is taken, for the names in it.
_NAMES = documents.DocumentLimits(most_bytes=64 * 1024, deepest=20)
_contracts: dict[tuple[type, str, str], Contract | None] = {}


def refuse_unknown(view: APIView, request: Request) -> None:
    """Raise a ValidationError that names what stands in a request and is none of what its operation takes."""
    contract = _contract_of(view, request)
    if contract is None:
        return
    errors = dict(_wrong_parameters(contract, request.query_params))
    shape = _of_media(contract.bodies, request)
    if shape is NOTHING and not _is_form(request):
        errors |= _left_out(contract, request)
    else:
        errors |= unknown_members(shape, sent(request) if _may_lack_a_body(view, shape) else request.data)
    if errors:
        raise exceptions.ValidationError(errors)


def taker_of(view: APIView, request: Request) -> Any:
    """Return the serializer that describes the body of what is asked, None for none."""
    contract = _contract_of(view, request)
    return None if contract is None else _of_media(contract.takers, request)


def sent(request: Request) -> Any:
    """Return what comes to an operation that needs no body: also an empty form, which many clients send."""
    if not _is_form(request):
        return request.data
    form, files = request._request.POST, request._request.FILES
    return {**form.dict(), **files.dict()} if files else form


def no_such(name: str, choices: Iterable[str], text: str) -> str:
    """Return a text on an unknown name, with the nearest that is known, or all of them if none is near."""
    names = sorted(choices)
    near = difflib.get_close_matches(name, names, n=1)
    # Marked texts stand outside f-strings, into which xgettext does not look.
    if near:
        return " ".join((text, _("Did you mean “%(name)s”?") % {"name": near[0]}))
    return " ".join((text, _("There are: %(names)s.") % {"names": listed(names)})) if names else text


def one_of(choices: Iterable[str]) -> str:
    """Return the text that none of the known names was given."""
    return _("There is no such one here; there are: %(known)s.") % {"known": listed(choices)}


def listed(names: Iterable[str]) -> str:
    """Return names for a sentence, of very many the first."""
    head = list(islice(names, MOST_NAMES + 1))
    return (", ".join(head[:MOST_NAMES]) + (", …" if len(head) > MOST_NAMES else "")) or "–"


def shape_of(taker: Any) -> Shape | None:
    """Return the shape that a serializer, or a field of one, takes; None for any value."""
    taker = taker() if isinstance(taker, type) else taker
    if isinstance(taker, serializers.Field) and taker.read_only:
        return None
    if isinstance(taker, serializers.Serializer):
        # Also those that are only read: whoever sends back what was fetched need not pick them out.
        fields = {name: item for name, item in taker.fields.items() if not isinstance(item, HiddenField)}
        required = {name for name, item in fields.items() if item.required and not item.read_only}
        return Shape({name: shape_of(item) for name, item in fields.items()}, frozenset(required))
    most = entries.most_of(taker) if isinstance(taker, serializers.Field) else None
    return None if most is None else Shape(each=shape_of(getattr(taker, "child", None)), most=most)


def unknown_members(shape: Shape | None, value: Any, place: str = "") -> dict[str, list[str]]:
    """Return {place: [text]} for each name of a value that its shape has not, and each that it lacks within.

    So it does for a list of too many entries, of which none is looked at.
    """
    if shape is None:
        return {}
    front = f"{place}." if place else ""
    errors: dict[str, list[str]] = {}
    if shape.most is not None:
        if isinstance(value, list | dict) and len(value) > shape.most:
            return {place or NON_FIELD_ERRORS: [entries.too_many(shape.most)]}
        parts = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
        for part, inner in parts:
            errors |= unknown_members(shape.each, inner, f"{front}{part}")
    elif isinstance(value, Mapping):
        for name in value:
            # A form writes the files of a list as "sent[0]", "sent[1]".
            plain_name = name.partition("[")[0] if isinstance(value, QueryDict) else name
            if plain_name not in shape.names:
                errors[f"{front}{name}"] = [no_such(name, shape.names, _("There is no such field here."))]
            else:
                errors |= unknown_members(shape.names[plain_name], _given(value, name, shape), f"{front}{name}")
        if place:
            # Where only some fields are changed (PATCH), what stands within one is given whole nevertheless.
            lacking = shape.required - set(value)
            errors |= {f"{front}{name}": [_("This field is required.")] for name in sorted(lacking)}
    return errors


def _given(value: Mapping[str, Any], name: str, shape: Shape) -> Any:
    """Return what a body has under a name, all that a form has under that of a list."""
    inner = shape.names.get(name)
    is_list = inner is not None and inner.most is not None
    return value.getlist(name) if is_list and isinstance(value, QueryDict) else value[name]


def _is_form(request: Request) -> bool:
    """Return whether a form came; Django reads those of POST only."""
    media = request.content_type or ""
    return request.method == "POST" and media.startswith(("multipart/form-data", "application/x-www-form-urlencoded"))


def _left_out(contract: Contract, request: Request) -> dict[str, list[str]]:
    """Return {name: [text]} of what came as a body to an operation that takes none; nothing and {} are none.

    Raises a ValidationError for a body without names.
    """
    body = request._request.body.strip()
    try:
        content = documents.read_json(body, _NAMES) if body else {}
        storable.check(content)
    except (documents.UnreadableError, storable.UnstorableError):
        content = None
    parameters = contract.parameters
    if not isinstance(content, dict):
        raise exceptions.ValidationError([_no_body(request)])
    if request.method in _WITH_BODY:
        return unknown_members(NOTHING, content)
    return {name: [_no_body(request, name if name in parameters else "")] for name in islice(content, MOST_NAMES)}


def _no_body(request: Request, parameter: str = "") -> str:
    if parameter:
        text = _("%(method)s takes no body here: give it in the address, as %(example)s.")
        return text % {"method": request.method, "example": f"?{parameter}=…"}
    return _("%(method)s takes no body here: leave it out.") % {"method": request.method}


def _contract_of(view: APIView, request: Request) -> Contract | None:
    """Return the contract of what is asked, None where nothing answers it (405)."""
    method = "GET" if request.method == "HEAD" else str(request.method)
    name = getattr(view, "action", None) or method.lower()
    if method == "OPTIONS" or not hasattr(view, name):
        return None
    key = (type(view), method, name)
    if key not in _contracts:
        _contracts[key] = _described(view, method, name)
    return _contracts[key]


def taker(view: APIView, method: str, name: str) -> Any:
    """Return the serializer that describes the body of a method of a view, None for none."""
    body = _schema_of(view, method, name).get_request_serializer()
    return body() if isinstance(body, type) else body


def _schema_of(view: APIView, method: str, name: str) -> Any:
    schema: Any = getattr(getattr(view, name), "kwargs", {}).get("schema") or type(view).schema
    described: Any = schema() if isinstance(schema, type) else type(schema)()
    described.view, described.method, described.path = view, method, ""
    return described


def _described(view: APIView, method: str, name: str) -> Contract | None:
    described = _schema_of(view, method, name)
    parameters = described.query_parameters()
    body = described.get_request_serializer() if method in _WITH_BODY else None
    bodies = body if isinstance(body, dict) else {"": body}
    return Contract(
        parameters={item["name"]: _parameter(item["schema"]) for item in parameters if not _is_open(item["schema"])},
        is_free=any(_is_open(item["schema"]) for item in parameters),
        bodies={media: NOTHING if taker is None else shape_of(taker) for media, taker in bodies.items()},
        takers=bodies,
    )


def _is_open(schema: dict[str, Any]) -> bool:
    """Return whether a parameter stands for any names: its object is spread over the address."""
    return schema.get("type") == "object"


def _parameter(schema: dict[str, Any]) -> AddressParameter:
    inner = schema.get("items", schema)
    choices = _TRUTHS if inner.get("type") == "boolean" else inner.get("enum", ())
    return AddressParameter(many=schema.get("type") == "array", choices=tuple(str(value) for value in choices))


def _wrong_parameters(contract: Contract, query: QueryDict) -> Iterator[tuple[str, list[str]]]:
    for name, values in query.lists():
        parameter = contract.parameters.get(name)
        if "\0" in name or any("\0" in value for value in values):
            yield name.replace("\0", ""), [_("Null characters are not allowed.")]
        elif parameter is None:
            if not contract.is_free:
                yield name, [no_such(name, contract.parameters, _("There is no such parameter here."))]
        elif len(values) > 1 and not parameter.many:
            yield name, [_("Give it once.")]
        elif parameter.choices and any(value and value.lower() not in parameter.choices for value in values):
            yield name, [one_of(parameter.choices)]


def _may_lack_a_body(view: APIView, shape: Shape | None) -> bool:
    """Return whether an operation reads no forms, and needs nothing of what may be sent to it."""
    reads_forms = any(issubclass(parser, FormParser | MultiPartParser) for parser in view.parser_classes)
    return shape is NOTHING or (shape is not None and not shape.required and shape.most is None and not reads_forms)


def _of_media(bodies: Mapping[str, T], request: Request) -> T:
    media = (request.content_type or "").partition(";")[0].strip().lower()
    return bodies[media] if media in bodies else next(iter(bodies.values()))
