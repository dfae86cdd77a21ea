"""What a JSON text would weigh once it is read, told before it is: an empty object of two bytes takes a hundred."""

import math
import re

# Nothing is tried twice, also where a text is never closed. The group is a word that no JSON has.
_PIECE = re.compile(
    r""""(?:[^"\\]|\\.|\\\Z)*+(?:"|\Z)|[\[{]|[\]}]
    |(?:-?(?:[0-9][0-9.eE+-]*+|Infinity)|true|false|null|NaN)(?![^\s"\[\]{},:])
    |([^\s"\[\]{},:]++)""",
    re.DOTALL | re.VERBOSE,
)
_DEEPER = {"[": 1, "{": 1, "]": -1, "}": -1}


class TooHeavyError(ValueError):
    """A JSON text holds too much at `offset`: lists and objects within each other, or else values."""

    def __init__(self, offset: int, *, is_too_deep: bool) -> None:
        super().__init__(f"too {'deep' if is_too_deep else 'many'} at {offset}")
        self.offset = offset
        self.is_too_deep = is_too_deep


def is_light(text: str, most_values: int, deepest: float = math.inf) -> bool:
    """Say at a glance whether nothing in a text can be too heavy; one that is not may be light all the same."""
    opening = text.count("[") + text.count("{")
    # Each value and each key has one of these before or behind it, but the first.
    return opening <= deepest and 2 * (opening + text.count(",")) < most_values


def weigh(text: str, most_values: int, deepest: float = math.inf, *, start: int = 0) -> int:
    """Return how many values and keys the JSON has that begins at `start`; TooHeavyError tells where it has too many.

    Reading brackets within brackets ends in the depth of the stack. What stands after the end is not looked at, nor
    what stands after a word that ends every reading: a line of a log may begin with a bracket.
    """
    depth = values = 0
    for piece in _PIECE.finditer(text, start):
        step = _DEEPER.get(piece[0], 0)
        depth += step
        values += step >= 0
        if depth > deepest or values > most_values:
            raise TooHeavyError(piece.start(), is_too_deep=depth > deepest)
        if (step < 0 and depth <= 0) or piece.lastindex:
            break
    return values
