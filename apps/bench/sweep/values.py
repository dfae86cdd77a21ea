"""Read a factor: a list of values and ranges, such as ``64KiB..16MiB x2, 20MiB``."""

import re

from apps.bench import units
from apps.bench.sweep.errors import SweepError
from apps.bench.sweep.ranges import RangeError, ends_of, expand_range
from apps.bench.sweep.spec import MAX_TRIALS, SweepParameter
from apps.bench.text import Message, _

LONGEST_EXPRESSION = 10_000

_SEPARATOR = re.compile(r"[,;、\n]")
_TEXT_ITEM = re.compile(r'\s*(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s",][^,\n]*)|)\s*(?:,|\n|$)')


def parse_factor(parameter: SweepParameter, text: str) -> list[units.Value]:
    """Return the values a factor takes, typed and in base units, in the order written and without repetitions.

    A comma list of values and ranges: ``a..b xF`` (each F times the last), ``a..b +S`` (steps of S), ``a..b /N``
    (N equal steps, N + 1 values), ``a..b log N`` (N values evenly apart on a logarithmic scale), and ``a..b`` of
    whole numbers (steps of 1); from high to low if a > b. Texts with a comma stand in double quotes. SweepError.
    """
    return list(dict.fromkeys(read_values(parameter, text)))


def read_values(parameter: SweepParameter, text: str) -> list[units.Value]:
    """Return the values of a factor as `parse_factor` does, but keep those that come again."""
    try:
        values = _read_items(parameter.kind, text)
        if not values:
            raise RangeError(Message(_("Nothing to sweep: enter values such as 1, 2, 4 or 1..16 x2.")))
        for value in values:
            _check_limits(parameter, value)
    except (units.UnitError, RangeError) as error:
        raise SweepError({f"factors.{parameter.name}": error.message}) from error
    return values


def require_units(text: str, kind: str) -> None:
    """Raise units.UnitError for the first number of a list or range that stands without its unit; 0 needs none."""
    if kind in units.BASE_UNITS and len(text) <= LONGEST_EXPRESSION:
        for item in _SEPARATOR.split(units.normalise(text)):
            for end in ends_of(item.strip()):
                units.require_unit(end, kind)


def read_value(parameter: SweepParameter, text: str) -> units.Value:
    """Return the one value of a fixed parameter; units.UnitError says what is wrong."""
    value = units.parse_quantity(text, parameter.kind)
    _check_limits(parameter, value)
    return value


def _read_items(kind: str, text: str) -> list[units.Value]:
    if len(text) > LONGEST_EXPRESSION:
        raise RangeError(
            Message(
                _("This list is too long to read: use at most %(limit)s characters."), {"limit": LONGEST_EXPRESSION}
            )
        )
    if kind in ("text", "choice"):
        return [units.parse_quantity(item, kind) for item in _split_texts(text)]
    values: list[units.Value] = []
    for item in _SEPARATOR.split(units.normalise(text)):
        if item.strip():
            values += _read_item(kind, item.strip())
        if len(values) > MAX_TRIALS:
            raise RangeError(
                Message(_("This makes more than %(limit)s values: take larger steps."), {"limit": MAX_TRIALS})
            )
    return values


def _read_item(kind: str, item: str) -> list[units.Value]:
    values = expand_range(item, kind) if kind != "boolean" else None
    return [units.parse_quantity(item, kind)] if values is None else list(values)


def _split_texts(text: str) -> list[str]:
    items = []
    position = 0
    while position < len(text):
        match = _TEXT_ITEM.match(text, position)
        if match is None:
            raise RangeError(Message(_("Put a comma after each text, and close every double quote.")))
        if match["quoted"] is not None:
            items.append(match["quoted"])
        elif match["plain"]:
            items.append(match["plain"])
        position = match.end()
    return items


def _check_limits(parameter: SweepParameter, value: units.Value) -> None:
    choices = [choice for choice, _label in parameter.choices]
    if choices and value not in choices:
        raise units.UnitError(
            Message(
                _("“%(value)s” is not offered: choose from %(choices)s."),
                {"value": value, "choices": ", ".join(choice or '""' for choice in choices)},
            )
        )
    if isinstance(value, bool | str):
        return
    unit = units.BASE_UNITS.get(parameter.kind, "1")
    texts = {"value": units.canonical_text(value, parameter.kind)}
    if parameter.minimum is not None and value < parameter.minimum:
        minimum = units.format_quantity(parameter.minimum, unit)
        raise units.UnitError(
            Message(_("%(value)s is too small: the minimum is %(least)s."), texts | {"least": minimum})
        )
    if parameter.maximum is not None and value > parameter.maximum:
        maximum = units.format_quantity(parameter.maximum, unit)
        raise units.UnitError(
            Message(_("%(value)s is too large: the maximum is %(most)s."), texts | {"most": maximum})
        )
