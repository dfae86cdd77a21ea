"""Quantities with units: read what people type, show what was measured, lose nothing in between."""

from apps.bench.units.formats import canonical_text, format_quantity, percent, percent_below
from apps.bench.units.quantities import (
    LARGEST_WHOLE,
    Value,
    exact_value,
    has_unit,
    normalise,
    parse_quantity,
    require_unit,
    settle,
    too_large,
)
from apps.bench.units.tables import (
    BASE_UNITS,
    KINDS,
    LONGEST_QUANTITY,
    NUMBER_KINDS,
    WHOLE_KINDS,
    UnitError,
    is_unit,
)

__all__ = [
    "BASE_UNITS",
    "KINDS",
    "LARGEST_WHOLE",
    "LONGEST_QUANTITY",
    "NUMBER_KINDS",
    "WHOLE_KINDS",
    "UnitError",
    "Value",
    "canonical_text",
    "exact_value",
    "format_quantity",
    "has_unit",
    "is_unit",
    "normalise",
    "parse_quantity",
    "percent",
    "percent_below",
    "require_unit",
    "settle",
    "too_large",
]
