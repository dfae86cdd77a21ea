"""The units in which programs print figures, and the base units in which metrics are kept."""

from dataclasses import dataclass
from decimal import Decimal

from apps.bench import units
from apps.bench.text import Message, _

LONGEST_UNIT = 16
# The axis of each base unit, by which charts put metrics side by side.
AXES = {"B": "size", "bit/s": "rate", "B/s": "byte-rate", "s": "time", "count": "count", "1": "ratio", "%": "load"}
# What conditions may compare a metric of each base unit with.
KINDS = {"B": "size", "bit/s": "rate", "B/s": "byte-rate", "s": "duration"}

_PLAIN = {"": "count", "count": "count", "1": "1", "%": "%"}
_OF_KIND = (("duration", "s"), ("size", "B"), ("byte-rate", "B/s"), ("rate", "bit/s"))


@dataclass(frozen=True)
class PrintedUnit:
    """A unit as it is printed: the base unit of its kind, and how many of these one of it is."""

    base: str
    factor: float


def read_unit(text: str) -> PrintedUnit:
    """Return what a printed unit stands for; a word that is none, such as IOPS or GFLOP/s, is its own base.

    UnitError says what is wrong with one that could be two things.
    """
    text = text.strip()
    if text in _PLAIN:
        return PrintedUnit(_PLAIN[text], 1.0)
    if len(text) > LONGEST_UNIT or not text.isprintable():
        raise units.UnitError(
            Message(_("Write the unit in at most %(limit)s characters, such as MB/s."), {"limit": LONGEST_UNIT})
        )
    if text in ("m", "M", "K", "k", "G", "T", "P") or text[:1].isdigit():
        raise units.UnitError(Message(_("“%(unit)s” may be several things: write it out."), {"unit": text}))
    for kind, base in _OF_KIND:
        # A rate of bytes is one of bits, too, but is kept as it was printed.
        if base == "B/s" and not _counts_bytes(text):
            continue
        try:
            factor = units.exact_value(f"1e9 {text}", kind) / Decimal(10**9)
        except units.UnitError:
            continue
        return PrintedUnit(base, float(factor))
    return PrintedUnit(text, 1.0)


def _counts_bytes(text: str) -> bool:
    return text.endswith(("B/s", "Bps", "bytes/s"))
