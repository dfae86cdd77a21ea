"""Whether values that come from outside can be stored and sent on: their depth, their numbers, their texts."""

import math
from collections.abc import Iterable
from typing import Any

from apps.bench.rules.base import MOST_FIGURE
from apps.bench.text import Message, _

# No document of this service is nested a quarter as deeply; what reads and stores one does so level by level.
DEEPEST = 64
# What a column of whole numbers holds.
LARGEST = 2**63 - 1


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
        return None if _is_text(value) else Message(_("Leave out the character of number zero and half characters."))
    if isinstance(value, int | float) and not is_bounded(value):
        return Message(_("This number is too large."))
    return None


def is_bounded(number: float) -> bool:
    """Return whether a number is one that columns hold, and of which sums and squares of many can be computed."""
    if isinstance(number, int):
        return abs(number) <= LARGEST
    return math.isfinite(number) and abs(number) <= MOST_FIGURE


def _is_text(text: str) -> bool:
    if text.isascii():
        return "\0" not in text
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _too_deep() -> Message:
    return Message(_("This is nested too deeply: at most %(most)s levels are taken."), {"most": DEEPEST})
