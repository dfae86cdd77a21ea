"""The values of a document's JSON, read one by one; each error names the place that is not as it should be."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

Json = dict[str, Any]


class DocumentError(ValueError):
    """The JSON is no document; `place` names the part, e.g. "sections[2].blocks[0].rows"."""

    def __init__(self, place: str, problem: str) -> None:
        """Keep the place and what is wrong there."""
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem


def pair(value: object, place: str) -> tuple[str, str]:
    """Return a label and a text."""
    if not isinstance(value, list) or len(value) != 2:
        raise DocumentError(place, gettext("here stand a label and a text."))
    return string(value[0], place), string(value[1], place)


def items(data: Json, name: str, place: str) -> list[tuple[str, Any]]:
    """Return (place, item) of a list; a list that is left out is empty."""
    at = f"{place}.{name}".lstrip(".")
    members = data.get(name, [])
    if not isinstance(members, list):
        raise DocumentError(at, gettext("here stands a list: [ … ]."))
    return [(f"{at}[{index}]", item) for index, item in enumerate(members)]


def mapping(value: object, place: str) -> Json:
    """Return an object."""
    if not isinstance(value, dict):
        raise DocumentError(place, gettext("here stands an object: { … }."))
    return value


def string(value: object, place: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise DocumentError(place, gettext("here stands a text in quotation marks."))
    return value


def text(data: Json, name: str, place: str) -> str:
    """Return a text by its name, "" if it is left out."""
    return string(data.get(name, ""), f"{place}.{name}".lstrip("."))


def choice(data: Json, name: str, options: Sequence[str], place: str) -> Any:
    """Return a text by its name that is one of those known."""
    value = data.get(name)
    if not isinstance(value, str) or value not in options:
        problem = gettext("choose one of %(known)s.") % {"known": ", ".join(options)}
        raise DocumentError(f"{place}.{name}".lstrip("."), problem)
    return value


def whole(data: Json, name: str, usual: int, place: str) -> int:
    """Return a whole number of 0 or more by its name, the usual one if it is left out."""
    value = data.get(name, usual)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise DocumentError(f"{place}.{name}".lstrip("."), gettext("here stands a whole number."))
    return value
