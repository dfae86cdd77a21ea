"""The units of each kind of quantity, their factors, and what is said of a unit that is not one."""

from decimal import Decimal

from apps.bench.text import Message, _

KINDS = ("size", "rate", "byte-rate", "duration", "integer", "float", "boolean", "text", "choice")
# Those of numbers, and those of whole ones.
WHOLE_KINDS = frozenset(("size", "rate", "byte-rate", "integer"))
NUMBER_KINDS = WHOLE_KINDS | {"duration", "float"}

# No quantity is written in more characters.
LONGEST_QUANTITY = 100

# The unit in which values of a kind are stored.
BASE_UNITS = {"size": "B", "rate": "bit/s", "byte-rate": "B/s", "duration": "s"}
# Those in which people mostly think of a kind; a bare number may have meant one of them.
USUAL_UNITS = {"size": "KiB", "rate": "Mbit/s", "byte-rate": "MB/s", "duration": "ms"}

PREFIXES = "kMGTP"


class UnitError(ValueError):
    """A text that is not the quantity wanted; ``message`` says what is wrong with it and what to write."""

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(str(message))


def _prefixed(base: str, *, binary: bool = False) -> dict[str, Decimal]:
    """Return {"kB": 1000, "KB": 1000, "mB": 10**6, ...}: the letter case of a prefix never matters."""
    factors = {}
    for power, prefix in enumerate(PREFIXES, start=1):
        factor = Decimal(1024) ** power if binary else Decimal(1000) ** power
        for letter in (prefix.lower(), prefix.upper()):
            factors[letter + base] = factor
    return factors


def _size_units() -> dict[str, Decimal]:
    # A bare K, M or G is binary, as in `iperf3 -w 64K`; KB, MB and GB are decimal, as in the SI.
    whole = dict.fromkeys(("B", "byte", "bytes", "바이트"), Decimal(1))
    return whole | _prefixed("", binary=True) | _prefixed("iB", binary=True) | _prefixed("B")


def _rate_units(bits_per_unit: int) -> dict[str, Decimal]:
    """Return the factors to bit/s (1) or B/s (8): a byte is eight bits, so either may be written for the other."""
    units = _prefixed("")
    # No "KBytes/sec" or "MBytes/sec": programs that print them count in 1024, and people who write them mostly not.
    bit_symbols = ("bit/s", "bits/s", "bps", "b/s", "bit/sec", "bits/sec", "b/sec")
    for symbols, bits in ((bit_symbols, 1), (("B/s", "Bps", "bytes/s", "B/sec"), 8)):
        scale = Decimal(bits) / bits_per_unit
        for symbol in symbols:
            units[symbol] = scale
            units |= {unit: factor * scale for unit, factor in _prefixed(symbol).items()}
            units |= {unit: factor * scale for unit, factor in _prefixed("i" + symbol, binary=True).items()}
    return units


def _duration_units() -> dict[str, Decimal]:
    spellings = {
        Decimal("1e-9"): "ns",
        Decimal("1e-6"): "us μs usec 마이크로초",
        Decimal("1e-3"): "ms msec 밀리초",
        Decimal(1): "s sec secs second seconds 초",
        Decimal(60): "min mins minute minutes 분",
        Decimal(3600): "h hr hrs hour hours 시간",
        Decimal(86400): "d day days 일",
    }
    return {spelling: factor for factor, text in spellings.items() for spelling in text.split()}


UNITS: dict[str, dict[str, Decimal]] = {
    "size": _size_units(),
    "rate": _rate_units(1),
    "byte-rate": _rate_units(8),
    "duration": _duration_units(),
    "integer": {},
    "float": {},
}

NOT_A_QUANTITY = {
    "size": _("“%(text)s” is not a size: write a number and a unit, for example 64 KiB or 1 MiB."),
    "rate": _("“%(text)s” is not a rate: write a number and a unit, for example 100 Mbit/s or 1 Gbit/s."),
    "byte-rate": _("“%(text)s” is not a rate: write a number and a unit, for example 100 MB/s or 1 GB/s."),
    "duration": _("“%(text)s” is not a duration: write a number and a unit, for example 10 s or 4.8 ms."),
    "integer": _("“%(text)s” is not a whole number: write for example 4."),
    "float": _("“%(text)s” is not a number: write for example 4 or 0.5."),
    "boolean": _("“%(text)s” is neither yes nor no: write yes or no."),
}

UNKNOWN_UNIT = {
    "size": _("“%(unit)s” is not a unit of size: use B, KiB, MiB, GiB, TiB (or KB, MB, GB, TB)."),
    "rate": _("“%(unit)s” is not a unit of rate: use bit/s, kbit/s, Mbit/s, Gbit/s (or MB/s)."),
    "byte-rate": _("“%(unit)s” is not a unit of rate: use B/s, kB/s, MB/s, GB/s (or MiB/s)."),
    "duration": _("“%(unit)s” is not a unit of time: use us, ms, s, min, h or d."),
    "integer": _("“%(text)s” carries a unit, but a plain number is wanted: leave out “%(unit)s”."),
    "float": _("“%(text)s” carries a unit, but a plain number is wanted: leave out “%(unit)s”."),
}


def is_unit(unit: str) -> bool:
    """Return whether some kind of quantity has this unit."""
    return any(unit in units for units in UNITS.values()) or unit.lower() in UNITS["duration"]


def unit_factor(unit: str, kind: str, text: str) -> Decimal:
    """Return how many base units of its kind one `unit` is ("" is one); UnitError quotes `text`."""
    if not unit:
        return Decimal(1)
    units = UNITS[kind]
    if kind == "duration" and unit in ("m", "M"):
        raise UnitError(Message(_("“%(text)s” may be minutes or milliseconds: write min or ms."), {"text": text}))
    spelling = unit.lower() if kind == "duration" else unit
    if spelling in units:
        return units[spelling]
    if kind == "size" and unit[:-1] + "B" in units and unit.endswith("b"):
        # 64 Kb could be bits or bytes: guessing could be wrong by a factor of eight.
        raise UnitError(
            Message(
                _("“%(unit)s” may be bits: for bytes write a capital B, for example %(example)s."),
                {"unit": unit, "example": text[:-1] + "B"},
            )
        )
    raise UnitError(Message(UNKNOWN_UNIT[kind], {"unit": unit, "text": text}))
