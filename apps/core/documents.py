"""The one loader of YAML and JSON that people send; nothing in it is ever built or run, and it is bounded throughout.

A few lines of anchors, aliases and merge keys stand for gigabytes, thousands of brackets for a depth that ends the
process, a second key silently for the first: all are refused, with line and column.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from apps.bench.outputs import weights
from apps.bench.text import Message, _

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NOTHING = {"", "~", "null", "Null", "NULL"}
_CORE = "tag:yaml.org,2002:"
_HARMLESS_TAGS = {None, "!", _CORE + "str", _CORE + "seq", _CORE + "map"}
# Longer than any number; a figure of base 60 takes time by the square of its length.
_LONGEST_NUMBER = 128
# Each such line is compared with all before it.
_TAG_LINE = re.compile(r"^%TAG", re.MULTILINE)
_RESOLVER = yaml.resolver.Resolver()
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_CONSTRUCTED = {
    _CORE + "int": _CONSTRUCTOR.construct_yaml_int,
    _CORE + "float": _CONSTRUCTOR.construct_yaml_float,
    _CORE + "bool": _CONSTRUCTOR.construct_yaml_bool,
    _CORE + "null": lambda _node: None,
}


@dataclass(frozen=True)
class DocumentLimits:
    """What a document may hold: bytes in UTF-8, lists and mappings within each other, values and keys together.

    All is weighed before anything is built: an empty object of two bytes takes a hundred of memory.
    """

    most_bytes: int
    deepest: int
    most_values: int = 200_000


@dataclass(frozen=True)
class ScalarNode:
    """A scalar; `text` is None for YAML's null; a plain one (without quotes) may stand for a number."""

    line: int
    text: str | None
    is_plain: bool = False


@dataclass(frozen=True)
class SequenceNode:
    """A sequence."""

    line: int
    items: list["Value"] = field(default_factory=list)


@dataclass(frozen=True)
class MappingNode:
    """A mapping, its keys in their order."""

    line: int
    values: dict[str, "Value"] = field(default_factory=dict)


Value = ScalarNode | SequenceNode | MappingNode


class UnreadableError(ValueError):
    """A text is no document that is read here; `message` says why, and where if that is known."""

    def __init__(self, problem: Message, place: tuple[int, int] | None = None) -> None:
        where = f"Line {place[0]}, column {place[1]}: " if place else ""
        super().__init__(f"{where}{problem}")
        self.message = problem
        if place:
            params = {"line": place[0], "column": place[1], "problem": problem.as_json()}
            self.message = Message(_("Line %(line)s, column %(column)s: %(problem)s"), params)


def decode(raw: bytes | str, limits: DocumentLimits) -> str:
    """Return the text of a file; UnreadableError if it is too large or not UTF-8."""
    if len(raw) > limits.most_bytes:
        raise _too_large(limits)
    try:
        text = raw.removeprefix("\ufeff") if isinstance(raw, str) else raw.decode("utf-8-sig")
        size = len(text.encode("utf-8", "surrogatepass"))
    except UnicodeDecodeError as error:
        problem = _("The file is not UTF-8 text (byte %(place)s): save it as UTF-8.")
        raise UnreadableError(Message(problem, {"place": error.start + 1})) from error
    if size > limits.most_bytes:
        raise _too_large(limits)
    return text


def read_tree(raw: bytes | str, limits: DocumentLimits) -> Value | None:
    """Return a YAML document whose parts know their line, every scalar as its text; None if the text is empty."""
    text = decode(raw, limits)
    if unprintable := yaml.reader.Reader.NON_PRINTABLE.search(text):
        line, column = _place_in(text, unprintable.start())
        raise _at(line, column, Message(_("a character stands here that YAML does not allow: take it out.")))
    if tag_line := _TAG_LINE.search(text):
        line, column = _place_in(text, tag_line.start())
        raise _at(line, column, Message(_("tags (!) are not read; leave it out.")))
    try:
        return _Tree(yaml.parse(text, Loader=_LOADER), limits).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = Message(_("this is not YAML (%(problem)s)."), {"problem": error.problem or error.context})
        raise _at(mark.line + 1 if mark else 1, mark.column + 1 if mark else 1, problem) from error


def read_yaml(raw: bytes | str, limits: DocumentLimits) -> Any:
    """Return a YAML document as JSON has it: texts, numbers, booleans, None, lists, and mappings of texts.

    Dates stay texts, and so does what looks like a number but is longer than any.
    """
    return _plain(read_tree(raw, limits))


def read_json(raw: bytes | str, limits: DocumentLimits, *, takes_endless: bool = False) -> Any:
    """Return what a JSON text holds; a key that stands twice, NaN and endless numbers are refused.

    A number that is too large for a float is infinite with `takes_endless`, for who refuses it by its place.
    """
    text = decode(raw, limits)
    weigh(text, limits)
    try:
        figure = float if takes_endless else _finite
        return json.loads(text, parse_constant=_refuse_constant, parse_float=figure, object_pairs_hook=_members)
    except json.JSONDecodeError as error:
        problem = Message(_("this is not JSON (%(problem)s)."), {"problem": error.msg})
        raise _at(error.lineno, error.colno, problem) from error
    except UnreadableError:
        raise
    except (ValueError, RecursionError) as error:
        endless = Message(_("this is not JSON: it holds NaN, Infinity or a number without end."))
        raise UnreadableError(endless) from error


def weigh(text: str, limits: DocumentLimits) -> None:
    """Raise UnreadableError for a JSON text that is nested too deeply or has too many values, before it is read."""
    if weights.is_light(text, limits.most_values, limits.deepest):
        return
    try:
        weights.weigh(text, limits.most_values, limits.deepest)
    except weights.TooHeavyError as error:
        problem = Message(_("here are more than %(most)s values: split the file."), {"most": limits.most_values})
        if error.is_too_deep:
            problem = Message(_("this is nested too deeply."))
        raise _at(*_place_in(text, error.offset), problem) from error


class _Tree:
    """Reads the events of a text into parts."""

    def __init__(self, events: Iterator[yaml.Event], limits: DocumentLimits) -> None:
        self._events = events
        self._limits = limits
        self._values = 0

    def document(self) -> Value | None:
        """Return the one document that the events hold."""
        root: Value | None = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise _on(event, Message(_("a second document begins; a file is one document.")))
            if isinstance(event, yaml.NodeEvent):
                root = self._value(event, 0)
        return root

    def _value(self, event: Any, depth: int) -> Value:
        line = event.start_mark.line + 1
        self._values += 1
        if self._values > self._limits.most_values:
            problem = _("here are more than %(most)s values: split the file.")
            raise _on(event, Message(problem, {"most": self._limits.most_values}))
        if depth > self._limits.deepest:
            raise _on(event, Message(_("this is nested too deeply.")))
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise _on(event, Message(_("anchors (&) and aliases (*) are not read; write the value out.")))
        if event.tag not in _HARMLESS_TAGS:
            raise _on(event, Message(_("tags (!) are not read; leave it out.")))
        if isinstance(event, yaml.ScalarEvent):
            is_plain = bool(event.implicit[0]) and event.tag is None
            return ScalarNode(line, None if is_plain and event.value in _NOTHING else event.value, is_plain)
        if isinstance(event, yaml.SequenceStartEvent):
            listing = SequenceNode(line)
            while not isinstance(inner := next(self._events), yaml.SequenceEndEvent):
                listing.items.append(self._value(inner, depth + 1))
            return listing
        return self._entry(line, depth)

    def _entry(self, line: int, depth: int) -> MappingNode:
        entry = MappingNode(line)
        while not isinstance(inner := next(self._events), yaml.MappingEndEvent):
            key = self._value(inner, depth + 1)
            if not isinstance(key, ScalarNode) or not key.text:
                raise _on(inner, Message(_("a field needs a name.")))
            if key.is_plain and key.text == "<<":
                raise _on(inner, Message(_("merge keys (<<) are not read; write the fields out.")))
            if key.text in entry.values:
                problem = _("“%(field)s” stands here twice: leave one out.")
                raise _on(inner, Message(problem, {"field": key.text}))
            entry.values[key.text] = self._value(next(self._events), depth + 1)
        return entry


def _plain(value: Value | None) -> Any:
    if isinstance(value, MappingNode):
        return {name: _plain(inner) for name, inner in value.values.items()}
    if isinstance(value, SequenceNode):
        return [_plain(inner) for inner in value.items]
    if value is None or value.text is None or not value.is_plain or len(value.text) > _LONGEST_NUMBER:
        return None if value is None else value.text
    tag = _RESOLVER.resolve(yaml.ScalarNode, value.text, (True, False))
    construct = _CONSTRUCTED.get(tag)
    try:
        return construct(yaml.ScalarNode(tag, value.text)) if construct else value.text
    except (ValueError, OverflowError):
        # YAML's pattern of a number fits a few texts that are none, like "0b" and "1__".
        return value.text


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = _first_repeated(name for name, _value in pairs)
        problem = _("“%(field)s” stands twice in one object: leave one out.")
        raise UnreadableError(Message(problem, {"field": twice[:80]}))
    return members


def _first_repeated(names: Iterable[str]) -> str:
    earlier: set[str] = set()
    for name in names:
        if name in earlier:
            return name
        earlier.add(name)
    return ""


def _finite(figure: str) -> float:
    number = float(figure)
    if math.isinf(number):
        raise ValueError(figure)
    return number


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _place_in(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _on(event: Any, problem: Message) -> UnreadableError:
    return _at(event.start_mark.line + 1, event.start_mark.column + 1, problem)


def _at(line: int, column: int, problem: Message) -> UnreadableError:
    return UnreadableError(problem, (line, column))


def _too_large(limits: DocumentLimits) -> UnreadableError:
    problem = _("The file is too large: %(most)s KiB at most.")
    return UnreadableError(Message(problem, {"most": limits.most_bytes // 1024}))
