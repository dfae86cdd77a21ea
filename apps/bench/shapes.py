"""Whether JSON values have the shape of a dataclass as it is stored (`rules.base.as_plain`)."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from apps.bench.text import Message, problem_of

# Characters of one text within a stored value.
LONGEST_TEXT = 20_000


def fits(kind: Any, value: Any) -> bool:
    """Return whether a JSON value is how a value of this type is stored: tuples as lists, dataclasses as objects."""
    if kind is Any:
        return True
    if kind is Message:
        return not problem_of(value)
    if is_dataclass(kind):
        return isinstance(value, Mapping) and _has_members(kind, value)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(item, value) for item in inner)
    if origin is tuple:
        return isinstance(value, list) and _fit_items(inner, value)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(fits(inner[1], item) for item in value.values())
    return _is_scalar(kind, value)


def sound_members(kind: Any, value: Any) -> tuple[dict[str, Any], list[str]]:
    """Return an object's members without those that a dataclass stores in another shape, and the names of these."""
    if not isinstance(value, Mapping):
        return {}, [kind.__name__]
    hints = get_type_hints(kind)
    broken = [name for name, item in value.items() if name in hints and not fits(hints[name], item)]
    return {name: item for name, item in value.items() if name not in broken}, broken


def _fit_items(inner: tuple[Any, ...], value: list[Any]) -> bool:
    if inner[-1] is Ellipsis:
        return all(fits(inner[0], item) for item in value)
    return len(inner) == len(value) and all(fits(kind, item) for kind, item in zip(inner, value, strict=True))


def _has_members(kind: Any, value: Mapping[str, Any]) -> bool:
    """Return whether an object has the members of a dataclass; one with a default may be missing: it came later."""
    hints = get_type_hints(kind)
    for item in fields(kind):
        if item.name in value:
            if not fits(hints[item.name], value[item.name]):
                return False
        elif item.default is MISSING and item.default_factory is MISSING:
            return False
    return True


def _is_scalar(kind: Any, value: Any) -> bool:
    if kind is None or kind is type(None):
        return value is None
    if kind is str:
        return isinstance(value, str) and len(value) <= LONGEST_TEXT
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)
