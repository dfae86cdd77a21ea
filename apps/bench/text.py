"""User-visible words of the science: marked for translation here, translated where they are shown."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.bench import strict_json

# Messages within messages ("Trial 7 failed: no route: …"), the values of one, and the characters of what it says:
# what stands beyond is cut off, so that no message, whoever wrote it, is longer than what was stored of it.
DEEPEST = 6
MOST_PARAMS = 60
LONGEST = 20_000
# Bytes of a message as it is stored: two, and what holds them, fit in every field that has any. Of the values the
# longest are cut: of a name, or of how many there are, so much is none.
MOST_STORED_BYTES = 5000
_SHORTEST_CUT = 20

# Names only: widths, precisions and other conversions could make a text endless.
_PLACEHOLDER = re.compile(r"%(?:%|\((\w{1,60})\)s)")


def _(message: str) -> str:
    """Mark a msgid for translation; the page that shows it translates it."""
    return message


UNSHOWABLE = _("(This cannot be shown.)")


class MalformedMessageError(ValueError):
    """Stored values that are no message."""


@dataclass(frozen=True)
class Message:
    """A msgid and its named values, e.g. ``Message("%(n)s trials", {"n": 4})``; stored and translated later."""

    msgid: str
    params: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the English text."""
        return filled(self)

    def as_json(self) -> dict[str, object]:
        """Return ``{"msgid", "params"}``, the form in which messages are stored; values that are too long are cut."""
        data: dict[str, object] = {"msgid": self.msgid, "params": dict(self.params)}
        return data if _bytes_of(data) <= MOST_STORED_BYTES else _shortened(data)

    @classmethod
    def from_json(cls, data: Any) -> "Message":
        """Return the message that ``as_json`` wrote; MalformedMessageError if it is none: see `problem_of`."""
        if problem := problem_of(data):
            raise MalformedMessageError(problem)
        return cls(data["msgid"], data["params"])


def _bytes_of(data: Any) -> int:
    return len(strict_json.dumps(data, ensure_ascii=False, default=str).encode(errors="replace"))


def _shortened(data: Any) -> dict[str, object]:
    """Return a message whose longest texts are cut until it can be stored; one without values is a text itself."""
    whole = _copied(data)
    while _bytes_of(whole) > MOST_STORED_BYTES:
        holder, key = max(_texts_in(whole), key=lambda place: len(place[0][place[1]]), default=({}, ""))
        length = len(holder.get(key, ""))
        if length <= _SHORTEST_CUT + 1:
            break
        holder[key] = holder[key][: max(_SHORTEST_CUT, length // 2)] + "…"
    return dict(whole)


def _copied(value: Any) -> Any:
    """Return values as they are stored, in dictionaries and lists of their own."""
    if isinstance(value, Mapping):
        return {str(key): _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _texts_in(message: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield where a message has texts that may be cut, each as what holds it and its name there."""
    if not message["params"]:
        yield message, "msgid"
    for name, value in message["params"].items():
        if isinstance(value, str):
            yield message["params"], name
        elif isinstance(value, dict):
            yield from _texts_in(value)


def problem_of(data: Any, level: int = 1) -> str:
    """Return why JSON values are no message, "" if they are one.

    A message is ``{"msgid", "params"}`` and nothing else: a text whose placeholders are all ``%(name)s``, and a text,
    a number, nothing, or another message for each of them.
    """
    if not isinstance(data, Mapping) or data.keys() != {"msgid", "params"}:
        return "no message"
    msgid, params = data["msgid"], data["params"]
    if not isinstance(msgid, str) or not isinstance(params, Mapping):
        return "no text with its values"
    if len(params) > MOST_PARAMS or level > DEEPEST:
        return "too many values, or messages within it"
    # Without values the text stands as it is: "within 3 %".
    if params and ("%" in _PLACEHOLDER.sub("", msgid) or not set(names_in(msgid)) <= params.keys()):
        return "placeholders that do not fit"
    return next(filter(None, (_problem_of_value(value, level) for value in params.values())), "")


def _problem_of_value(value: Any, level: int) -> str:
    if isinstance(value, Mapping):
        return problem_of(value, level + 1)
    return "" if value is None or isinstance(value, str | int | float) else "a value that is no text"


def names_in(msgid: str) -> list[str]:
    """Return the names of the values that a text says."""
    return [name for name in _PLACEHOLDER.findall(msgid) if name]


def filled(message: Any, translate: Callable[[str], str] = str) -> str:
    """Return the text of a message, stored or not, of at most LONGEST characters; UNSHOWABLE of what is none.

    Nothing that is given raises here, and the work is bounded by the size of what is given.
    """
    try:
        return _filled(message, translate, 1)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return translate(UNSHOWABLE)


def _filled(message: Any, translate: Callable[[str], str], level: int) -> str:
    msgid, params = (message["msgid"], message["params"]) if isinstance(message, Mapping) else _parts(message)
    if not isinstance(msgid, str) or not isinstance(params, Mapping) or level > DEEPEST:
        raise MalformedMessageError(msgid)
    text = (translate(msgid) if msgid else "")[: LONGEST + 1]
    return _cut(_substituted(text, params, translate, level) if params else text)


def _parts(message: Message) -> tuple[str, Mapping[str, object]]:
    return message.msgid, message.params


def _substituted(text: str, params: Mapping[str, object], translate: Callable[[str], str], level: int) -> str:
    """Return a text with its placeholders filled in; each value is made once, none once the text is long enough."""
    values: dict[str, str] = {}
    pieces: list[str] = []
    length = end = 0
    for place in _PLACEHOLDER.finditer(text):
        name = place[1]
        if name is not None and name not in values:
            values[name] = _value(params[name], translate, level)
        pieces += [text[end : place.start()], "%" if name is None else values[name]]
        length += len(pieces[-2]) + len(pieces[-1])
        end = place.end()
        if length > LONGEST:
            return "".join(pieces)
    return "".join([*pieces, text[end:]])


def _value(value: Any, translate: Callable[[str], str], level: int) -> str:
    if isinstance(value, Mapping | Message):
        return _filled(value, translate, level + 1)
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
