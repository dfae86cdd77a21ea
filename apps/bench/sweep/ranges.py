"""Ranges of values: steps, factors, equal parts and logarithmic spacing, computed exactly where that is possible."""

import math
import re
from collections.abc import Iterator
from decimal import Decimal, localcontext

from apps.bench import units
from apps.bench.sweep.spec import MAX_TRIALS
from apps.bench.text import Message, _

_RANGE = re.compile(r"(?P<first>.*?\S)\s*+(?:\.{2,3}|~|〜)\s*(?P<rest>.+)")
_STEP = re.compile(
    r"""(?P<last>.*?\S)\s*(?:
        [xX×*]\s*(?P<times>[0-9.]+)
      | (?<![eE])\+\s*(?P<plus>.+)
      | /\s*(?P<parts>[0-9]+)
      | log\s*(?P<points>[0-9]+)
    )""",
    re.VERBOSE,
)
_PRECISION = 60
# Dividing by a factor such as 3 may miss the end of the range by a rounding error.
_SLACK = Decimal("1e-40")
# Of a logarithmically spaced value, the digits that floating point is sure of.
_LOG_DIGITS = 13
# Longer counts than this are never wanted, and Python refuses to read very long ones.
_LONGEST_COUNT = 9
_LONGEST_RANGE = 200


class RangeError(ValueError):
    """A list or range that can not be read; ``message`` says what to write."""

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(str(message))


def expand_range(text: str, kind: str) -> list[int | float] | None:
    """Return the values of ``a..b xF``, ``+S``, ``/N`` or ``log N``, or None if the text is not a range.

    Kinds of quantity as in `units`; values of whole kinds are rounded to whole base units. units.UnitError or
    RangeError say what is wrong.
    """
    match = _RANGE.fullmatch(text) if len(text) <= _LONGEST_RANGE else None
    if match is None:
        return None
    step = _STEP.fullmatch(match["rest"])
    if step is None and kind != "integer":
        raise _unreadable(text)
    last_text = step["last"] if step else match["rest"]
    first, last = _read_ends(match["first"], last_text, kind, text)
    with localcontext(prec=_PRECISION):
        if step is None:
            exact = _linear(first, last, Decimal(1), text)
        elif step["times"]:
            exact = _geometric(first, last, _read_factor(step["times"], text), text)
        elif step["plus"]:
            exact = _linear(first, last, _read_step(step["plus"], last_text, kind, text), text)
        elif step["parts"]:
            exact = _equal_parts(first, last, _read_count(step["parts"], 1, text))
        else:
            exact = _logarithmic(first, last, _read_count(step["points"], 2, text), text)
        return [units.settle(value, kind, text) for value in exact]


def ends_of(text: str) -> tuple[str, ...]:
    """Return the two ends of a range as written, or the text itself where it is none."""
    match = _RANGE.fullmatch(text) if len(text) <= _LONGEST_RANGE else None
    if match is None:
        return (text,)
    step = _STEP.fullmatch(match["rest"])
    return match["first"], step["last"] if step else match["rest"]


def _read_ends(first_text: str, last_text: str, kind: str, text: str) -> tuple[Decimal, Decimal]:
    first = units.exact_value(first_text, kind)
    last = units.exact_value(last_text, kind)
    # 64..256KiB would start at 64 bytes, which nobody means.
    if first and last and units.has_unit(first_text) != units.has_unit(last_text):
        raise RangeError(Message(_("“%(text)s”: write the unit at both ends of the range."), {"text": text}))
    for end in (first, last):
        units.settle(end, kind, text)
    return first, last


def _read_factor(number: str, text: str) -> Decimal:
    factor = units.exact_value(number, "float")
    if factor <= 1:
        raise RangeError(
            Message(_("“%(text)s”: the factor after x must be greater than 1, for example x2."), {"text": text})
        )
    return factor


def _read_step(step_text: str, last_text: str, kind: str, text: str) -> Decimal:
    step = units.exact_value(step_text, kind)
    if step <= 0:
        raise RangeError(
            Message(
                _("“%(text)s”: the step after + must be greater than zero; write the ends in the order you want."),
                {"text": text},
            )
        )
    if units.has_unit(last_text) and not units.has_unit(step_text):
        raise RangeError(Message(_("“%(text)s”: write the unit of the step, too."), {"text": text}))
    return step


def _read_count(digits: str, minimum: int, text: str) -> int:
    count = int(digits[:_LONGEST_COUNT])
    if count < minimum:
        raise RangeError(
            Message(_("“%(text)s”: the last number must be at least %(least)s."), {"text": text, "least": minimum})
        )
    _refuse_too_many(count, text)
    return count


def _linear(first: Decimal, last: Decimal, step: Decimal, text: str) -> Iterator[Decimal]:
    steps = abs(last - first) / step
    _refuse_too_many(steps, text)
    signed = step if last >= first else -step
    return (first + signed * index for index in range(int(steps) + 1))


def _geometric(first: Decimal, last: Decimal, factor: Decimal, text: str) -> Iterator[Decimal]:
    _need_positive(first, last, text)
    span = abs(math.log(last) - math.log(first))
    _refuse_too_many(span / math.log1p(float(factor - 1)), text)
    value = first
    while value <= last * (1 + _SLACK) if last >= first else value >= last * (1 - _SLACK):
        yield value
        value = value * factor if last >= first else value / factor


def _equal_parts(first: Decimal, last: Decimal, parts: int) -> Iterator[Decimal]:
    return (first + (last - first) * index / parts for index in range(parts + 1))


def _logarithmic(first: Decimal, last: Decimal, points: int, text: str) -> Iterator[Decimal]:
    _need_positive(first, last, text)
    start, end = math.log(first), math.log(last)
    yield first
    for index in range(1, points - 1):
        value = math.exp(start + (end - start) * index / (points - 1))
        # Rounding must not lead beyond the ends, which may be the limits of the parameter.
        yield min(max(Decimal(f"{value:.{_LOG_DIGITS}g}"), min(first, last)), max(first, last))
    yield last


def _need_positive(first: Decimal, last: Decimal, text: str) -> None:
    if float(first) <= 0 or float(last) <= 0:
        raise RangeError(
            Message(_("“%(text)s”: a range with x or log must begin and end above zero."), {"text": text})
        )


def _refuse_too_many(count: Decimal | float, text: str) -> None:
    if count >= MAX_TRIALS:
        raise RangeError(
            Message(
                _("“%(text)s” makes more than %(limit)s values: take larger steps."),
                {"text": text, "limit": MAX_TRIALS},
            )
        )


def _unreadable(text: str) -> RangeError:
    return RangeError(
        Message(
            _(
                "“%(text)s”: say how to go from one end to the other: x2 (each twice the last), +1 (steps of 1), "
                "/5 (5 equal steps) or log 10 (10 values evenly apart on a logarithmic scale)."
            ),
            {"text": text},
        )
    )
