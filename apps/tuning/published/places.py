"""Values of a JSON file that know where they stand, so that every error can say it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.core import documents, messages

MOST_BYTES = 2 * 1024 * 1024
_LIMITS = documents.DocumentLimits(most_bytes=MOST_BYTES, deepest=12)
LONGEST_TEXT = 2000
MOST_ITEMS = 1000
# Rates, sizes and times beyond this are slips.
LARGEST = 1e18


class WrongPlace(ValidationError):
    """One thing that is wrong with the file, at one place."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__({"published": [_("%(place)s: %(problem)s") % {"place": place, "problem": problem}]})


@dataclass(frozen=True)
class At:
    """A value and where it stands, such as ``cases[3].given.rtt_s``."""

    place: str
    value: Any

    def has(self, name: str) -> bool:
        """Say whether the object has a member that is not null."""
        return self._members().get(name) is not None

    def get(self, name: str) -> "At":
        """Return a member; Wrong if there is none."""
        if not self.has(name):
            raise WrongPlace(f"{self.place}.{name}".lstrip("."), _("this is needed."))
        return At(f"{self.place}.{name}".lstrip("."), self._members()[name])

    def find(self, name: str) -> "At | None":
        """Return a member, None if it is left out or null."""
        return self.get(name) if self.has(name) else None

    def members(self) -> Iterator[tuple[str, "At"]]:
        """Yield the members of an object by name."""
        for name in self._members():
            yield name, At(f"{self.place}.{name}".lstrip("."), self._members()[name])

    def items(self) -> list["At"]:
        """Return the items of a list."""
        if not isinstance(self.value, list):
            raise WrongPlace(self.place, _("here stands a list: [ … ]."))
        if len(self.value) > MOST_ITEMS:
            raise WrongPlace(self.place, _("this list is longer than %s entries: split the file.") % MOST_ITEMS)
        return [At(f"{self.place}[{index}]", item) for index, item in enumerate(self.value)]

    def text(self) -> str:
        """Return a text that is not empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise WrongPlace(self.place, _("here stands a text in quotation marks."))
        if len(self.value) > LONGEST_TEXT or "\x00" in self.value:
            raise WrongPlace(self.place, _("this text is too long or holds characters that are none."))
        return self.value.strip()

    def number(self, *, minimum: float = 0.0, maximum: float = LARGEST, above: bool = True) -> float:
        """Return a number in its unit's base, above `minimum` (or from it on) and at most `maximum`."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise WrongPlace(self.place, _("here stands a number in the unit that the name tells."))
        if value < minimum or (above and value == minimum) or value > maximum:
            words = {"value": f"{value:g}", "least": f"{minimum:g}", "most": f"{maximum:g}"}
            raise WrongPlace(self.place, _("%(value)s cannot be: it lies between %(least)s and %(most)s.") % words)
        return float(value)

    def share(self) -> float:
        """Return a number from 0 to 1."""
        return self.number(maximum=1.0, above=False)

    def whole(self, *, maximum: int = 10**15) -> int:
        """Return a whole number above zero."""
        number = self.number(maximum=float(maximum))
        if number != int(number):
            raise WrongPlace(self.place, _("here stands a whole number."))
        return int(number)

    def _members(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise WrongPlace(self.place or _("the file"), _("here stands an object: { … }."))
        return self.value


def decode(data: bytes) -> str:
    """Return the text of a file; Wrong if it is too large or not UTF-8."""
    try:
        return documents.decode(data, _LIMITS)
    except documents.UnreadableError as error:
        raise WrongPlace(_("the file"), messages.render(error.message)) from error


def read(text: str) -> At:
    """Return what a JSON text holds; Wrong says where it is none."""
    try:
        data = documents.read_json(text, _LIMITS)
    except documents.UnreadableError as error:
        raise WrongPlace(_("the file"), messages.render(error.message)) from error
    return At("", data)
