"""JSON paths, as few as are needed: ``jobs[0].read.bw_bytes``, ``["a.b"].c``, ``rows[*].time``, ``rows[-1]``."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

from apps.bench.custom.patterns import LONGEST_PATTERN, PatternError
from apps.bench.outputs.documents import PrintedJson
from apps.bench.text import Message, _

Step = str | int | None

_STEP = re.compile(
    r"\.?(?P<key>[^\W\d][\w-]*)|\[(?P<index>-?\d{1,9})\]|\[(?P<star>\*)\]|\[(?P<quoted>\"(?:[^\"\\]|\\.)*\"|'[^'\\]*')\]"
)
MOST_STEPS = 30
MOST_VALUES = 100_000
MOST_STARTS = 1000


class JsonPath:
    """A JSON path; the empty path is the document itself."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_PATTERN:
            raise PatternError(Message(_("Use at most %(limit)s characters."), {"limit": LONGEST_PATTERN}))
        self.text = text
        self._steps = _parse(text)

    def values(self, document: Any) -> Iterator[Any]:
        """Yield what lies at the path, at several places where it holds [*]."""
        nodes = [document]
        for step in self._steps:
            nodes = [inner for value in nodes for inner in _enter(value, step)][:MOST_VALUES]
        yield from nodes


def read_document(text: str) -> Any:
    """Return the first JSON object or list of a text, before which other lines may stand; None without one.

    What begins like one and is none costs what was read of it: all of them together cost one reading of the text.
    """
    printed = PrintedJson(text)
    budget = len(text)
    for bracket in itertools.islice(re.finditer(r"^[ \t]*[{\[]", text, re.MULTILINE), MOST_STARTS):
        start = bracket.end() - 1
        try:
            return printed.read(start)[0]
        except ValueError as error:
            # A line of a log may begin with a bracket; a document that is cut short ends the search.
            budget -= error.pos - start if isinstance(error, json.JSONDecodeError) else len(text) - start
            if text[start] == "{" or budget <= 0:
                return None
    return None


def _parse(text: str) -> tuple[Step, ...]:
    rest = text.strip().removeprefix("$")
    steps: list[Step] = []
    position = 0
    while position < len(rest):
        match = _STEP.match(rest, position)
        if not match or match.end() == position or len(steps) == MOST_STEPS:
            example = _("“%(text)s” is not a JSON path: write for example jobs[0].read.bw_bytes or rows[*].time.")
            raise PatternError(Message(example, {"text": text}))
        steps.append(_step(match))
        position = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    if match["star"]:
        return None
    if match["index"]:
        return int(match["index"])
    if match["quoted"]:
        quoted = match["quoted"]
        if quoted.startswith("'"):
            return quoted[1:-1]
        try:
            return str(json.loads(quoted))
        except ValueError:
            return quoted[1:-1]
    return match["key"]


def _enter(value: Any, step: Step) -> list[Any]:
    if step is None:
        return list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
    if isinstance(step, int):
        return [value[step]] if isinstance(value, list) and -len(value) <= step < len(value) else []
    return [value[step]] if isinstance(value, dict) and step in value else []
