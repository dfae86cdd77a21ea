"""JSON that programs print, read without trusting it: warnings may stand before it, and it may be cut short."""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from apps.bench.outputs import weights
from apps.bench.outputs.failures import failure

Json = dict[str, Any]
# Of all JSON in one output: up to some 300 MB once it is read. Of real reports of 16 MiB, the usual limit, iperf3's
# --json-stream over idle streams comes closest, with 2.2 million.
MOST_VALUES = 2_500_000
# Of all JSON in the outputs of one run, its telemetry included, which are held at once: some 1.2 GB.
MOST_VALUES_OF_A_RUN = 10_000_000
_LINE_OBJECT = re.compile(r"^\{", re.MULTILINE)
# The keys of each line of iperf3 --json-stream.
EVENT = {"event", "data"}


class Damaged(ValueError):
    """What begins like a JSON object is none."""


class _RunWeight:
    """How many values the texts of one run hold together; one that is read again weighs once."""

    def __init__(self) -> None:
        self.most = MOST_VALUES_OF_A_RUN
        self._left = self.most
        # By the texts' hashes: they are long.
        self._values: dict[int, int] = {}

    def left_for(self, text: str) -> int:
        return self._left + self._values.get(hash(text), 0)

    def note(self, text: str, values: int) -> None:
        """Note that a text has at least so many."""
        more = max(0, values - self._values.get(hash(text), 0))
        self._values[hash(text)] = self._values.get(hash(text), 0) + more
        self._left -= more


_of_run: ContextVar[_RunWeight | None] = ContextVar("weight of a run", default=None)


@contextmanager
def weighed_together() -> Iterator[None]:
    """Have all JSON that is read in the block, as that of one run, hold at most MOST_VALUES_OF_A_RUN."""
    token = _of_run.set(_RunWeight())
    try:
        yield
    finally:
        _of_run.reset(token)


class PrintedJson:
    """The JSON in a text that a program printed: all of it is weighed before it is read, and read here alone.

    A JSONDecodeError has the place where it is none, Damaged is for all else that cannot be read; the ToolFailure
    `too-many-values` says that there is too much, in this and what was read before, or in all outputs of the run.
    """

    _DECODER = json.JSONDecoder()

    def __init__(self, text: str, most_values: int | None = None) -> None:
        self._text = text
        self._most = MOST_VALUES if most_values is None else most_values
        self._is_light = weights.is_light(text, self._most)
        self._left = self._most
        self._run = _of_run.get()

    def read(self, start: int = 0) -> tuple[Any, int]:
        """Return the JSON that begins at `start`, and where it ends."""
        try:
            if self._run or not self._is_light:
                # Also of what turns out to be none: all of it together takes one weighing.
                self._left -= weights.weigh(self._text, min(self._left, self._left_of_run()), start=start)
            if self._run:
                self._run.note(self._text, self._most - self._left)
            return self._DECODER.raw_decode(self._text, start)
        except weights.TooHeavyError as error:
            if self._run and self._left_of_run() < self._left:
                raise failure("too-many-values-together", most=self._run.most) from error
            raise failure("too-many-values", most=self._most) from error
        except json.JSONDecodeError:
            raise
        except (ValueError, RecursionError) as error:
            raise Damaged from error

    def _left_of_run(self) -> int:
        return self._run.left_for(self._text) - (self._most - self._left) if self._run else self._left

    def lines(self) -> Iterator[Any]:
        """Yield what each line that begins as an object does holds."""
        for line in re.finditer(r"^\{[^\n]*", self._text, re.MULTILINE):
            value, end = self.read(line.start())
            if self._text[end : line.end()].strip():
                raise Damaged
            yield value


def whole_of(text: str, most_values: int | None = None) -> Any:
    """Return what a text holds that is JSON and nothing else, of MOST_VALUES unless told otherwise."""
    text = text.strip()
    value, end = PrintedJson(text, most_values).read()
    if end < len(text):
        raise Damaged
    return value


def first_object(text: str, *, on_a_new_line: bool = False) -> Json | None:
    """Return the first JSON object of a text (of those that begin a line, if asked) or None; Damaged if cut short."""
    start = re.search(r"^\{" if on_a_new_line else r"\{", text, re.MULTILINE)
    if not start:
        return None
    try:
        first: Json = PrintedJson(text).read(start.start())[0]
    except ValueError as error:
        raise Damaged from error
    return first


def line_objects(text: str) -> Iterator[Json]:
    """Yield the JSON objects of a text that begin a line, not those within others; Damaged if one is cut short."""
    printed, position = PrintedJson(text), 0
    while start := _LINE_OBJECT.search(text, position):
        try:
            value, position = printed.read(start.start())
        except ValueError as error:
            raise Damaged from error
        yield value


def printed_object(stdout: bytes) -> Json | None:
    """Return the first JSON object of an output, or None if there is none or it is damaged."""
    try:
        return first_object(stdout.decode("utf-8", "replace"))
    except Damaged:
        return None


def dig(data: Any, *path: str) -> Any:
    """Return what lies at a path of keys of nested objects, or None."""
    for key in path:
        if not isinstance(data, dict):
            return None
        data = data.get(key)
    return data


def number(data: Any, *path: str) -> float | None:
    """Return the finite, non-negative number at a path of keys, or None."""
    value = dig(data, *path)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def objects(value: Any) -> list[Json]:
    """Return the objects of a list, and nothing of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
