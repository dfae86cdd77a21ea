"""Show stored messages (a msgid and its values) in the reader's language."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext

from apps.bench.text import Message, filled


def render(message: Mapping[str, Any] | Message | str | None) -> str:
    """Return the translated text of ``{"msgid", "params"}``, a Message or a bare msgid.

    It never raises and is never longer than `text.LONGEST`, whatever is stored; what is no message is said as that.
    """
    if message is None:
        return ""
    if isinstance(message, str):
        return gettext(message) if message else ""
    return filled(message, gettext)


def render_errors(errors: Mapping[str, Iterable[Message]]) -> dict[str, list[str]]:
    """Return errors by field in the reader's language."""
    return {name: [render(text) for text in texts] for name, texts in errors.items()}
