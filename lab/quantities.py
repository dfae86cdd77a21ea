"""Quantities with units, as a lab file writes them: rates, throughputs, durations and sizes, in base units."""

import re

_SCALES = {
    "rate": {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    "duration": {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0},
    "size": {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
}
_SCALES["throughput"] = {f"{unit}/s": scale for unit, scale in _SCALES["size"].items()}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(\S+)\s*")


def parse_quantity(text: object, kind: str) -> float:
    """Return a "rate" in bit/s, a "throughput" in B/s, a "duration" in s or a "size" in bytes.

    ValueError says how to write it.
    """
    scales = _SCALES[kind]
    match = _QUANTITY.fullmatch(str(text))
    if not match or match[2] not in scales:
        raise ValueError(f"{text!r} is no {kind}: write a number and one of {', '.join(scales)}")
    return float(match[1]) * scales[match[2]]


def format_quantity(value: float, kind: str) -> str:
    """Return a quantity in the largest unit that leaves 1 or more: 1 Gbit/s, 4.8 ms, 4 MB.

    The unit is a decimal one, but 2 GiB and 30 MiB/s are written so.
    """
    binary = kind in ("size", "throughput") and value and value % 2**20 == 0
    scales = {unit: scale for unit, scale in _SCALES[kind].items() if ("iB" in unit) == bool(binary)}
    fitting = [unit for unit, scale in scales.items() if value >= scale * (1 - 1e-9)]
    unit = max(fitting or scales, key=lambda unit: (scales[unit] if fitting else -scales[unit], unit.isascii()))
    return f"{value / scales[unit]:.6g} {unit}"
