"""Read quantities as people write them, in English or Korean, into base units."""

import itertools
import math
import re
import unicodedata
from decimal import Decimal, localcontext

from apps.bench.text import Message, _
from apps.bench.units.tables import (
    BASE_UNITS,
    KINDS,
    NOT_A_QUANTITY,
    USUAL_UNITS,
    WHOLE_KINDS,
    UnitError,
    unit_factor,
)

Value = int | float | bool | str

LONGEST_NUMBER = 100
LONGEST_TEXT = 1000
# What a column of 64-bit integers holds.
LARGEST_WHOLE = 2**63 - 1

_NEVER_NEGATIVE = {"size", "rate", "byte-rate", "duration"}
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_QUANTITY = re.compile(rf"({_NUMBER})\s*([^\W\d_]+(?:/[a-zA-Z]+)?)?")
_COMPOUND = re.compile(r"(?<![0-9])([0-9]+(?:\.[0-9]+)?)\s*(?![eE][0-9+-])([^\W\d_]+)\s*")
_YES = {"yes", "true", "on", "1", "y", "예", "네", "참", "켬"}
_NO = {"no", "false", "off", "0", "n", "아니요", "아니오", "거짓", "끔"}
# Minus signs that editors and input methods put in the place of "-".
_SIGNS = str.maketrans({"−": "-", "–": "-", "—": "-"})


def normalise(text: str) -> str:
    """Return the text with full-width and compatibility characters (６４ＫｉＢ, ㎆, ㎳) as plain ones, trimmed."""
    return unicodedata.normalize("NFKC", text).translate(_SIGNS).strip()


def parse_quantity(text: str, kind: str) -> Value:
    """Return the value of a text in base units.

    Kinds: size (int, bytes), rate (int, bit/s), byte-rate (int, B/s), duration (float, seconds), integer, float,
    boolean, text and choice (the text itself, trimmed). A number without a unit is in the base unit; a bare K, M
    or G is binary in sizes (``64K`` = 64 KiB, as iperf3's -w) and decimal in rates (``100M`` = 100 Mbit/s).
    UnitError says what is wrong and what to write.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not a kind of quantity")
    if kind in ("text", "choice"):
        return _parse_text(text)
    plain = normalise(text)
    if kind == "boolean":
        return _parse_boolean(plain)
    return settle(exact_value(text, kind), kind, plain)


def has_unit(text: str) -> bool:
    """Return whether a unit follows the number."""
    match = _QUANTITY.fullmatch(normalise(text))
    return match is None or match[2] is not None


def require_unit(text: str, kind: str) -> None:
    """Raise UnitError for a number of a quantity that a person wrote without its unit; 0 needs none.

    What is no number at all is its reader's to refuse.
    """
    match = _QUANTITY.fullmatch(normalise(text)) if len(text) <= LONGEST_NUMBER else None
    if kind not in BASE_UNITS or match is None or match[2] is not None or not Decimal(match[1]):
        return
    values = {"text": match[1], "usual": USUAL_UNITS[kind], "base": BASE_UNITS[kind]}
    words = _("“%(text)s” has no unit: write “%(text)s %(usual)s”, or “%(text)s %(base)s” if that is what you mean.")
    raise UnitError(Message(words, values))


def exact_value(text: str, kind: str) -> Decimal:
    """Return the exact value of a number with a unit, in base units and not yet rounded; or UnitError."""
    plain = normalise(text)
    excerpt = plain if len(plain) <= LONGEST_NUMBER else plain[:LONGEST_NUMBER] + "…"
    if not plain:
        raise UnitError(Message(_("Nothing was entered: write a value.")))
    if len(plain) > LONGEST_NUMBER:
        raise _not_a_quantity(kind, excerpt)
    if kind == "duration" and (total := _compound_duration(plain)) is not None:
        return total
    match = _QUANTITY.fullmatch(plain)
    if match is None:
        if re.search(r"[0-9],[0-9]", plain):
            raise UnitError(
                Message(
                    _("“%(text)s”: write the decimal point as “.”, and thousands without a separator."),
                    {"text": excerpt},
                )
            )
        raise _not_a_quantity(kind, excerpt)
    number, unit = Decimal(match[1]), match[2] or ""
    factor = unit_factor(unit, kind, plain)
    if kind in _NEVER_NEGATIVE and number < 0:
        raise UnitError(Message(_("“%(text)s” is less than zero: leave out the minus sign."), {"text": excerpt}))
    with localcontext(prec=2 * LONGEST_NUMBER):
        value = number * factor
    if kind in WHOLE_KINDS and value and (abs(value) < 1 or (factor == 1 and number != number.to_integral_value())):
        raise _not_whole(kind, excerpt)
    return value


def settle(value: Decimal, kind: str, original: str) -> int | float:
    """Return an exact value as it is stored: whole kinds rounded to the nearest unit, the others as float.

    `original` is what the user wrote, for the UnitError of a value too large to be stored.
    """
    if kind in WHOLE_KINDS:
        if abs(value) > LARGEST_WHOLE:
            raise too_large(original)
        return int(value.to_integral_value())
    settled = float(value)
    if not math.isfinite(settled):
        raise too_large(original)
    return settled


def _parse_text(text: str) -> str:
    trimmed = text.strip()
    if len(trimmed) > LONGEST_TEXT:
        raise UnitError(
            Message(_("This text is too long: use at most %(limit)s characters."), {"limit": LONGEST_TEXT})
        )
    # Control characters and lone surrogates can not be stored, and have no place in a command.
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in trimmed):
        raise UnitError(Message(_("This text holds a control character: remove it, or write it on one line.")))
    return trimmed


def _parse_boolean(plain: str) -> bool:
    word = plain.lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise _not_a_quantity("boolean", plain[:LONGEST_NUMBER])


def _compound_duration(plain: str) -> Decimal | None:
    """Return the seconds of "1 h 30 min", or None if the text is not several parts, each of a smaller unit."""
    parts = _COMPOUND.findall(plain)
    if len(parts) < 2 or _COMPOUND.sub("", plain):
        return None
    factors = [unit_factor(unit, "duration", plain) for _number, unit in parts]
    if any(later >= earlier for earlier, later in itertools.pairwise(factors)):
        return None
    return sum((Decimal(part[0]) * factor for part, factor in zip(parts, factors, strict=True)), Decimal(0))


def _not_a_quantity(kind: str, original: str) -> UnitError:
    return UnitError(Message(NOT_A_QUANTITY[kind], {"text": original}))


def _not_whole(kind: str, original: str) -> UnitError:
    if kind == "integer":
        return _not_a_quantity(kind, original)
    return UnitError(
        Message(
            _("“%(text)s” has a fraction of the smallest unit, %(unit)s: write a whole number of %(unit)s."),
            {"text": original, "unit": BASE_UNITS[kind]},
        )
    )


def too_large(original: str) -> UnitError:
    """Return why a number is refused that no column holds."""
    return UnitError(Message(_("“%(text)s” is too large to be stored: check its unit."), {"text": original}))
