"""JSON that programs print, read without trusting it: warnings may stand before it, and it may be cut short."""

import json
import math
import re
from typing import Any

Json = dict[str, Any]
# The keys of each line of iperf3 --json-stream.
EVENT = {"event", "data"}


class Damaged(ValueError):
    """What begins like a JSON object is none."""


def first_object(text: str, *, on_a_new_line: bool = False) -> Json | None:
    """Return the first JSON object of a text (of those that begin a line, if asked) or None; Damaged if cut short."""
    start = re.search(r"^\{" if on_a_new_line else r"\{", text, re.MULTILINE)
    if not start:
        return None
    try:
        first: Json = json.JSONDecoder().raw_decode(text, start.start())[0]
    except (ValueError, RecursionError) as error:
        raise Damaged from error
    return first


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
