"""User-visible words of the science: marked for translation here, translated where they are shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field


def _(message: str) -> str:
    """Mark a msgid for translation; the page that shows it translates it."""
    return message


@dataclass(frozen=True)
class Message:
    """A msgid and its named values, e.g. ``Message("%(n)s trials", {"n": 4})``; stored and translated later."""

    msgid: str
    params: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the English text."""
        return self.msgid % self.params if self.params else self.msgid

    def as_json(self) -> dict[str, object]:
        """Return ``{"msgid", "params"}``, the form in which messages are stored."""
        return {"msgid": self.msgid, "params": dict(self.params)}
