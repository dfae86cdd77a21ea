"""The one writer of JSON: what it writes, every reader of the standard (RFC 8259) takes.

The standard has no infinity and no NaN, and browsers, databases and strict clients refuse the whole of a text that
has one. A figure that is none is "not known", null, here as in a report.
"""

import json
import math
from collections.abc import Mapping
from typing import Any


def dumps(value: Any, **options: Any) -> str:
    """Return a value as JSON; the options are those of `json.dumps`. TypeError for what JSON has no form for."""
    try:
        return json.dumps(value, allow_nan=False, **options)
    except ValueError:
        return json.dumps(finite(value), allow_nan=False, **options)


class Encoder(json.JSONEncoder):
    """The same, for libraries that take an encoder; it goes before their own among the bases of one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_nan": False})

    def encode(self, o: Any) -> str:
        """Return a value as JSON."""
        try:
            return super().encode(o)
        except ValueError:
            return super().encode(finite(o))


def require(value: Any) -> None:
    """Raise ValueError for a value with a figure that is none, TypeError for what JSON has no form for."""
    json.dumps(value, allow_nan=False)


def finite(value: Any) -> Any:
    """Return JSON values in which None stands for each number that is none."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {finite(name): finite(item) for name, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value
