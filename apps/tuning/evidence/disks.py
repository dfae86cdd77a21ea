"""What the inventory's words say of the disks behind a file system: how many, and what they give each way."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from apps.bench import units

READ, WRITE = "read", "write"
RATE, ELSE = "rate", "else"

# "8 × 250 GB SATA, 800 MB/s": how many disks, and what they give together.
_COUNT = re.compile(r"\s*(\d{1,5})\b(?!\s*[.,]?\d*\s*[kMGTP]i?[bB])")
# Bytes, whatever else is small or large: a rate in bits ("6 Gb/s") is that of a port.
_UNIT = r"[kMGT]i?(?-i:B)/s"
_FIGURE = rf"(?P<value>\d{{1,9}}(?:\.\d{{1,6}})?)\s*(?P<unit>{_UNIT})"
_WORDS = {
    READ: r"\b(?:reads?|reading)\b|읽기",
    WRITE: r"\b(?:writes?|writing|written)\b|쓰기",
    # Of rates that are not those of writing or reading in order, or those of a port and not of the disks behind it.
    ELSE: r"\b(?:random|cached?|re-?(?:reads?|writes?)|IOPS)\b|임의|캐시"
    r"|\b(?:SAS|SATA|FC|fib(?:re|er)[ -]?channel|PCI(?:e|-X|[ -]express)?|i?SCSI|InfiniBand|Ethernet)\b"
    r"|\b(?:bus(?:es)?|interfaces?|links?|lanes?|ports?|HBAs?)\b|버스|인터페이스|포트",
}
_TOKEN = re.compile("|".join([_FIGURE, *(f"(?P<{name}>{words})" for name, words in _WORDS.items())]), re.IGNORECASE)
# What parts one rate with its direction from the next.
_BETWEEN = re.compile(r"[,;\n]|\band\b(?=[^,;]*\d)", re.IGNORECASE)
# Figures that are not what all disks give together: "8 x 100 MB/s", "100 MB/s each", "100-200 MB/s", "1,200 MB/s",
# "400/30 MB/s", and a direction of one letter.
_AMBIGUOUS = re.compile(
    rf"[\d.]\s*(?:[x×*/–~-]|to\b)\s*\d+(?:\.\d+)?\s*{_UNIT}|\d,\d+(?:\.\d+)?\s*{_UNIT}"
    r"|\b(?:each|apiece|per (?:disk|drive|spindle|server|node|array|controller|shelf|enclosure|LUN|volume))\b"
    r"|/s\s*(?:\)\s*)?[x×*]\s*\d"
    r"|(?<![/\w])[rw](?![/\w])",
    re.IGNORECASE,
)


class DisksAsDescribed(NamedTuple):
    """How many disks a description names first, and the rates (B/s) that it gives, by metric."""

    number: int | None
    rates: dict[str, float]


def read_disks(text: str) -> DisksAsDescribed:
    """Return what a description says: each rate of the direction that it is named with.

    One without a direction bears on both, unless another one has its own; of what is ambiguous nothing is known.
    """
    count = _COUNT.match(text)
    return DisksAsDescribed(int(count[1]) or None if count else None, _rates_of(text))


def _rates_of(text: str) -> dict[str, float]:
    if _AMBIGUOUS.search(text):
        return {}
    named: dict[str, set[float]] = {READ: set(), WRITE: set()}
    plain: set[float] = set()
    for clause in _BETWEEN.split(text):
        tokens = list(_tokens(clause))
        if any(name == ELSE for name, _rate in tokens):
            continue
        pairs = _pairs(tokens)
        if pairs is None:
            return {}
        for name, rate in pairs:
            named.get(name, plain).add(rate)
    if not any(named.values()):
        named = dict.fromkeys(named, plain)
    # Of two rates of one direction nobody knows which counts.
    return {name: next(iter(rates)) for name, rates in named.items() if len(rates) == 1 and all(rates)}


def _tokens(clause: str) -> Iterator[tuple[str, float]]:
    """Return the rates (B/s) and directions of a clause in order: (RATE, rate), (direction, 0)."""
    for match in _TOKEN.finditer(clause):
        if match["value"]:
            yield RATE, float(units.parse_quantity(f"{match['value']} {match['unit']}", "byte-rate") or 0)
        else:
            yield next(name for name in _WORDS if match[name]), 0.0


def _pairs(tokens: list[tuple[str, float]]) -> list[tuple[str, float]] | None:
    """Return each rate of a clause with each direction that it is named with, "" for none; None if ambiguous."""
    rates = [rate for name, rate in tokens if name == RATE]
    names = [name for name, _rate in tokens if name != RATE]
    if len(rates) == 1:
        return [(name, rates[0]) for name in names or [""]]
    if not names:
        return [("", rate) for rate in rates]
    # "400 MB/s read 30 MB/s write": one after the other, whichever comes first.
    order = "".join("r" if name == RATE else "d" for name, _rate in tokens)
    return list(zip(names, rates, strict=True)) if re.fullmatch("(rd)+|(dr)+", order) else None
