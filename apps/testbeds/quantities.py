"""Quantities as the inventory writes them: with units, and so that reading them back loses nothing."""

import re

from apps.bench import units

_NUMBER_AND_UNIT = re.compile(r"([0-9.eE+-]*[0-9])([^0-9.].*)")


def text_of(value: float | None, kind: str) -> str | None:
    """Return "2.5 Gbit/s" of 2.5e9 and kind "rate", "4.8 ms" of 0.0048 and kind "duration"; None of None."""
    if value is None:
        return None
    readable = units.format_quantity(value, units.BASE_UNITS[kind])
    if kind == "duration" or units.parse_quantity(readable, kind) != value:
        readable = units.canonical_text(value, kind)
    match = _NUMBER_AND_UNIT.fullmatch(readable)
    return f"{match[1]} {match[2].lstrip()}" if match else readable
