"""Show quantities: readable with their unit, or as the shortest text that reads back to the same value."""

import math
from decimal import Decimal, localcontext

from apps.bench.units.tables import BASE_UNITS, PREFIXES

_IEC = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# Below this a size that is not whole KiB is clearer in bytes: an MTU is 9000 B, not 8.789 KiB.
_PLAIN_BYTES = 10_000
# Smaller values than this are shown with an exponent.
_TINY = 1e-4
# Beyond this power of ten an exponent is shorter than zeros.
_LONGEST_FIXED = 12
_RATE_DIGITS = 4
_SIZE_DIGITS = 4
_TIME_DIGITS = 3
# What is stored as a share of one and shown in per cent.
FRACTION = "fraction"
_TIME_SCALES = (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9))


def format_quantity(value: float, unit: str) -> str:
    """Return a value of a base unit as text for people: "64 KiB", "983.0 Mbit/s", "4.80 ms", "32.7 %".

    `unit` is what the value is stored in: "B" (shown with IEC prefixes), "bit/s" and "B/s" (SI prefixes), "s",
    "%" (the value is already in percent), "fraction" (a share of 1, shown in percent), "1", "count" or "" (no unit),
    or any other word, which is put behind the number. Sizes and whole (int) rates that are round are shown without
    decimals; measured rates (float) keep four digits, times three.
    """
    if unit == FRACTION:
        return format_quantity(100 * value, "%")
    if not math.isfinite(value):
        return f"{value} {unit}" if unit not in ("1", "count", "") else str(value)
    if value < 0:
        return "-" + format_quantity(-value, unit)
    if unit == "B":
        return _format_size(value)
    if unit in ("bit/s", "B/s"):
        return _format_rate(value, unit)
    if unit == "s":
        return _format_duration(value)
    number = _plain_number(value)
    return number if unit in ("1", "count", "") else f"{number} {unit}"


def canonical_text(value: int | float | bool | str, kind: str) -> str:
    """Return the text of a value of a kind that `parse_quantity` reads back to exactly the same value."""
    if kind == "boolean":
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if kind == "size":
        return _whole_units(int(value), _IEC, 1024)
    if kind in ("rate", "byte-rate"):
        base = BASE_UNITS[kind]
        return _whole_units(int(value), (base, *(prefix + base for prefix in PREFIXES)), 1000)
    if kind == "duration":
        return _canonical_duration(value)
    return repr(value)


def _whole_units(value: int, units: tuple[str, ...], base: int) -> str:
    """Return the value in the largest unit that holds it without a fraction."""
    power = 0
    while value and value % base == 0 and power + 1 < len(units):
        value, power = value // base, power + 1
    return f"{value}{units[power]}"


def _canonical_duration(seconds: float) -> str:
    exact = Decimal(repr(seconds))
    scales = ((unit, exact.scaleb(exponent)) for unit, exponent in (("s", 0), ("ms", 3), ("us", 6)))
    unit, shifted = next(((unit, shifted) for unit, shifted in scales if shifted >= 1), ("s", exact))
    if abs(shifted.adjusted()) > _LONGEST_FIXED:
        return f"{seconds!r}s"
    number = f"{shifted:f}"
    return (number.rstrip("0").rstrip(".") if "." in number else number) + unit


def _significant(value: float, digits: int) -> str:
    """Return the value with `digits` significant digits, in fixed notation unless it is tiny."""
    if 0 < value < _TINY:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(value))) if value else 0
    text = f"{value:.{decimals}f}"
    # 9.9996 rounds up to 10.000: one digit too many.
    return f"{value:.{decimals - 1}f}" if decimals and sum(c.isdigit() for c in text.lstrip("0.")) > digits else text


def _scaled(value: float, units: tuple[str, ...], base: int, digits: int, *, round_off: bool) -> str:
    """Return the value with the largest prefix that leaves at least one before the point, after rounding."""
    power = 0
    scaled = value
    while power + 1 < len(units) and float(_significant(scaled, digits)) >= base:
        scaled, power = scaled / base, power + 1
    text = _significant(scaled, digits)
    # Compare exactly: a round figure such as 1.5 MiB needs no padding, one that was rounded keeps its digits.
    with localcontext(prec=60):
        is_exact = Decimal(text) * base**power == Decimal(value)
    if round_off and is_exact and "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {units[power]}"


def _format_size(value: float) -> str:
    if value < _PLAIN_BYTES and value % 1024:
        return f"{_plain_number(value)} B"
    return _scaled(value, _IEC, 1024, _SIZE_DIGITS, round_off=True)


def _format_rate(value: float, unit: str) -> str:
    units = (unit, *(prefix + unit for prefix in PREFIXES))
    return _scaled(value, units, 1000, _RATE_DIGITS, round_off=isinstance(value, int) or not value)


def _format_duration(value: float) -> str:
    if not value:
        return "0 s"
    if value >= 1 and value == int(value):
        return _format_long_duration(int(value))
    texts = [(unit, _significant(value * scale, _TIME_DIGITS)) for unit, scale in _TIME_SCALES]
    unit, text = next(((unit, text) for unit, text in texts if float(text) >= 1), texts[-1])
    return f"{text} {unit}" if unit != "s" or float(text) < 60 else _format_long_duration(round(value))


def _format_long_duration(seconds: int) -> str:
    parts = []
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        amount, seconds = divmod(seconds, length)
        if amount:
            parts.append(f"{amount} {unit}")
    return " ".join(parts)


def _plain_number(value: float) -> str:
    """Return whole numbers as they are and others with four significant digits, without padding zeros."""
    if isinstance(value, int) or (value == int(value) and value < 1e15):
        return str(int(value))
    return f"{value:.4g}"


def percent(share: float) -> str:
    """Return a share of a whole in percent: what scatter or rounding lifts above all of a thing is all of it."""
    return f"{100 * min(share, 1.0):.0f}"


def percent_below(share: float, threshold: float) -> str:
    """Return a share in percent, with a digit more where it is below a threshold that rounding would lift it to."""
    text = percent(share)
    return f"{math.floor(1000 * share) / 10:.1f}" if share < threshold and text == percent(threshold) else text
