"""What no sentence of a finding may have: an empty place, two spaces together, a value that is none."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from apps.bench.text import Message, filled

_PLACES = re.compile(r"%\((\w+)\)s")
# Two spaces, one before a mark or at an end, brackets around nothing, what Python calls no value or number,
# a sign of percent that was to be halved, a dash where a figure belongs, and more than all of a thing.
_BROKEN = re.compile(
    r"  | [.,;:)](?:\s|$)|\(\s*\)|^\s|\s$|\b(?:None|nan|NaN|inf|Infinity|True|False)\b|%\(\w+\)s|%%|<[\w.]+ object"
    r"|× –|\(–(?= |;|\))|: –(?=[.;])"
    r"|(?<![\d.,])(?:10[1-9]|1[1-9]\d|[2-9]\d\d|\d{4,})(?:\.\d+)? %(?! (?:more|less|of one))"
)


def messages_of(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every message in a finding as JSON has it, those of its parts and alternatives included."""
    if isinstance(value, Mapping):
        if value.keys() == {"msgid", "params"}:
            yield value
        else:
            for item in value.values():
                yield from messages_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from messages_of(item)


def faults_of_text(text: str) -> list[str]:
    """Return what is wrong with a sentence as it is shown."""
    return [f"“{found[0]}” in “{text}”" for found in _BROKEN.finditer(text)]


def faults_of(message: Message | Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a message as people read it."""
    data = message.as_json() if isinstance(message, Message) else message
    text = filled(data)
    found = faults_of_text(text)
    params: Any = data["params"]
    for name in _PLACES.findall(str(data["msgid"])):
        value = params.get(name)
        if isinstance(value, Mapping):
            found += faults_of(value)
        elif value is None or not str(value).strip():
            found.append(f"nothing for {name} in “{text}”")
    return found


def faults_in(finding: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with any sentence of a finding as JSON has it."""
    return [f"{finding.get('rule')}: {fault}" for message in messages_of(finding) for fault in faults_of(message)]
