"""Whether values that come from outside can be stored and sent on: their depth, their numbers, their texts."""

from collections.abc import Iterable
from typing import Any

from apps.bench.bounds import LARGEST, is_bounded, is_text
from apps.bench.text import Message, _

__all__ = ["LARGEST", "UnstorableError", "check", "is_bounded"]

# No document of this service is nested a quarter as deeply; what reads and stores one does so level by level.
DEEPEST = 64


class UnstorableError(ValueError):
    """A value that is not taken; `place` is "factors.0.name", "" for the whole."""

    def __init__(self, message: Message, place: str = "") -> None:
        super().__init__(str(message))
        self.message = message
        self.place = place


def check(value: Any) -> None:
    """Raise UnstorableError for the first value that is nested too deeply, or cannot be stored or sent on."""
    if _is_storable(value):
        return
    # Only what is wrong costs the making of places.
    layer: list[tuple[str, Any]] = [("", value)]
    level = 0
    while layer:
        inner: list[tuple[str, Any]] = []
        for place, item in layer:
            if isinstance(item, dict | list):
                if level == DEEPEST:
                    raise UnstorableError(_too_deep())
                inner += _members(place, item)
            elif problem := _problem(item):
                raise UnstorableError(problem, place)
        layer, level = inner, level + 1


def _is_storable(value: Any) -> bool:
    layer, level = [value], 0
    while layer:
        inner: list[Any] = []
        for item in layer:
            if isinstance(item, dict):
                inner += item.keys()
                inner += item.values()
            elif isinstance(item, list):
                inner += item
            elif _problem(item):
                return False
        layer, level = inner, level + 1
        if level > DEEPEST:
            return False
    return True


def _members(place: str, value: Any) -> Iterable[tuple[str, Any]]:
    front = f"{place}." if place else ""
    if isinstance(value, list):
        return [(f"{front}{number}", item) for number, item in enumerate(value)]
    for name in value:
        if problem := _problem(name):
            raise UnstorableError(problem, place)
    return [(f"{front}{name}", item) for name, item in value.items()]


def _problem(value: Any) -> Message | None:
    if isinstance(value, str):
        return None if is_text(value) else Message(_("Leave out the character of number zero and half characters."))
    if isinstance(value, int | float) and not is_bounded(value):
        return Message(_("This number is too large."))
    return None


def _too_deep() -> Message:
    return Message(_("This is nested too deeply: at most %(most)s levels are taken."), {"most": DEEPEST})
