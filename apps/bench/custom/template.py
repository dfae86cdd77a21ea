"""The template of a command's arguments, and the way back from an argv to the values.

A line holds one or more words, quoted as in a shell where they hold blanks. ``{size}`` is a parameter's value in its
base unit (B, bit/s, B/s, s), ``{size:MiB}`` in another; ``{server.address}``, ``{client.name}`` and the like are of
the nodes, ``{directory}`` is the experiment's file system and ``{work}`` the job's own folder; ``{{`` is a brace.
A line is left out where one of its values is empty, or a yes/no parameter on it says no; one that says yes adds
nothing but the rest of its line.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter

_PART = re.compile(r"\{\{|\}\}|\{([a-z][\w.]*)(?::([^{}\s]{1,10}))?\}|([{}])", re.ASCII)
WORK, DIRECTORY = "work", "directory"
# The agent itself puts the folder in the place of this.
_WORK_MARK = "{work}"


class TemplateError(ValueError):
    """A line that can not be read; ``message`` says why."""

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(str(message))


@dataclass(frozen=True)
class Slot:
    """A place for a value, in a unit of its kind ("" for the base unit)."""

    name: str
    unit: str = ""


Word = tuple[str | Slot, ...]
Line = tuple[Word, ...]


def parse_line(text: str) -> Line:
    """Return the words of a line, each as texts and slots; TemplateError says what is wrong."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise TemplateError(Message(_("A quotation mark is left open in: %(line)s"), {"line": text})) from None
    return tuple(_parse_word(word) for word in words)


def slots_of(line: Line) -> list[Slot]:
    """Return the slots of a line."""
    return [part for word in line for part in word if isinstance(part, Slot)]


def check_slot(slot: Slot, parameters: Mapping[str, Parameter], places: Sequence[str]) -> Message | None:
    """Return what is wrong with a slot, given the parameters and the other names there are."""
    parameter = parameters.get(slot.name)
    if parameter is None:
        if slot.name not in places:
            names = ", ".join([*parameters, *places])
            text = _("{%(name)s} is none of the names known here: %(known)s.")
            return Message(text, {"name": slot.name, "known": names})
        return Message(_("{%(name)s} has no unit."), {"name": slot.name}) if slot.unit else None
    if not slot.unit:
        return None
    if parameter.kind not in units.BASE_UNITS:
        return Message(_("{%(name)s} has no unit."), {"name": slot.name})
    try:
        units.exact_value(f"1 {slot.unit}", parameter.kind)
    except units.UnitError as error:
        return error.message
    return None


def fill(
    lines: Sequence[Line], values: Mapping[str, Any], places: Mapping[str, str], kinds: Mapping[str, str]
) -> list[str]:
    """Return the argv that the lines make of parameter values (base units) and of the other names' texts."""
    argv: list[str] = []
    for line in lines:
        slots = slots_of(line)
        if any(_is_empty(values.get(slot.name) if slot.name in kinds else places[slot.name]) for slot in slots):
            continue
        for word in line:
            texts = [part if isinstance(part, str) else _text_of(part, values, places, kinds) for part in word]
            text = "".join(texts)
            # What is no more than a yes stands for the rest of its line, and is no word itself.
            if text or not any(isinstance(part, Slot) for part in word):
                argv.append(text)
    return argv


def recover(lines: Sequence[Line], argv: Sequence[str], kinds: Mapping[str, str]) -> dict[str, Any]:
    """Return the raw values of parameters that an argv (without its program) was filled with, as far as it fits."""
    raw: dict[str, Any] = {}
    position = 0
    for line in lines:
        words = [word for word in line if not _says_only_yes(word, kinds)]
        arguments = argv[position : position + len(words)]
        values = [_values_in(text, word) for word, text in zip(words, arguments, strict=False)]
        fits = len(arguments) == len(words) and None not in values
        if fits:
            position += len(words)
            for word, texts in zip(words, values, strict=True):
                slots = [part for part in word if isinstance(part, Slot)]
                raw |= {slot.name: text + slot.unit for slot, text in zip(slots, texts or (), strict=True)}
        for slot in slots_of(line):
            if kinds.get(slot.name) == "boolean":
                raw[slot.name] = fits
    return {name: value for name, value in raw.items() if name in kinds}


def _parse_word(word: str) -> Word:
    parts: list[str | Slot] = []
    position = 0
    for match in _PART.finditer(word):
        if match[3]:
            text = _("A brace stands alone in “%(word)s”: write {{ or }} for the sign itself.")
            raise TemplateError(Message(text, {"word": word}))
        parts.append(word[position : match.start()])
        parts.append(Slot(match[1], match[2] or "") if match[1] else match[0][0])
        position = match.end()
    parts.append(word[position:])
    joined = tuple(part for part in parts if part != "")
    return joined or ("",)


def _is_empty(value: object) -> bool:
    return value is None or value is False or value == ""


def _text_of(slot: Slot, values: Mapping[str, Any], places: Mapping[str, str], kinds: Mapping[str, str]) -> str:
    if slot.name not in kinds:
        return _WORK_MARK if slot.name == WORK else places[slot.name]
    value = values[slot.name]
    if value is True:
        return ""
    if isinstance(value, str):
        return value
    if slot.unit:
        value = value / float(units.exact_value(f"1 {slot.unit}", kinds[slot.name]))
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _says_only_yes(word: Word, kinds: Mapping[str, str]) -> bool:
    return all(isinstance(part, Slot) and kinds.get(part.name) == "boolean" for part in word)


def _values_in(text: str, word: Word) -> list[str] | None:
    """Return what stands for each slot of a word, as short as can be, in one pass; None if the text does not fit."""
    begin, *between = _texts_around(word)
    if not between:
        return [] if text == begin else None
    if not text.startswith(begin):
        return None
    *between, end = between
    values: list[str] = []
    place = len(begin)
    for part in between:
        start = text.find(part, place)
        if start < 0:
            return None
        values.append(text[place:start])
        place = start + len(part)
    if place > len(text) - len(end) or not text.endswith(end):
        return None
    return [*values, text[place : len(text) - len(end)]]


def _texts_around(word: Word) -> list[str]:
    """Return the texts before, between and behind the slots of a word: one more than it has slots."""
    texts = [""]
    for part in word:
        if isinstance(part, Slot):
            texts.append("")
        else:
            texts[-1] += part
    return texts
