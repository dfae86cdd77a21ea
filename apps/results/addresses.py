"""What stands in the addresses of pages: names of points, values, and names that mean nothing there."""

import hashlib
from collections.abc import Iterable
from typing import Any

from django.http import QueryDict

from apps.bench import strict_json
from apps.bench.text import Message, _
from apps.core import contract

# {field of the address: what is wrong with it}
Errors = dict[str, list[Message]]


def point_key(parameters: dict[str, Any]) -> str:
    """Return the name of a point in addresses."""
    return hashlib.sha256(strict_json.dumps(parameters, sort_keys=True).encode()).hexdigest()[:12]


def text_of(value: object) -> str:
    """Return a parameter's value as the text that addresses write for it; "" where none is set."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def unknown_names(query: QueryDict, names: Iterable[str]) -> Errors:
    """Return what of a query written as text has no meaning, be it a slip of the pen: {"query": messages}."""
    text = _("“%(name)s” is no part of such an address; there are: %(known)s.")
    listed = contract.listed(names)
    unknown = [Message(text, {"name": name[:100], "known": listed}) for name in query if name not in names]
    return {"query": unknown} if unknown else {}
