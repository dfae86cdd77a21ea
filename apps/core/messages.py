"""Show stored messages (a msgid and its values) in the reader's language."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from apps.bench.text import Message


def render(message: Mapping[str, Any] | Message | str | None) -> str:
    """Return the translated text of ``{"msgid", "params"}``, a Message or a bare msgid."""
    if message is None:
        return ""
    if isinstance(message, str):
        return gettext(message) if message else ""
    data: Mapping[str, Any] = message.as_json() if isinstance(message, Message) else message
    text = gettext(str(data["msgid"]))
    # A message may stand within another: "Trial 7 failed: no route to the server."
    given: Mapping[str, Any] = data.get("params") or {}
    params = {name: render(value) if isinstance(value, Mapping) else value for name, value in given.items()}
    return text % params if params else text
