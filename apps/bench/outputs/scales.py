"""What programs mean by a letter behind a number: they do not agree."""

import re
from collections.abc import Mapping

# iperf 2 (sizes and rates): lower case decimal, upper case binary.
MIXED = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "K": 2**10, "M": 2**20, "G": 2**30}
DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "K": 10**3, "M": 10**6, "G": 10**9}

# Programs print three digits: of 100 half of the last one is this share. Units that are asked for leave fewer.
_THREE_DIGITS = 0.005
# What is rounded beside the last digit: the bytes and the time that tell the same rate.
_BESIDE = 0.02

_SCALED = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)([kKmMgG]?)", re.ASCII)


def scaled(text: str | None, factors: Mapping[str, int]) -> int | None:
    """Return the number of a text such as "64K" by the factor of its letter, or None if it is none."""
    match = _SCALED.fullmatch(text or "")
    return round(float(match[1]) * factors[match[2]]) if match else None


def is_coarse(text: str) -> bool:
    """Return whether a number is printed with fewer than three digits, as "0.01" of too large a unit."""
    return _half_digit(text) > _THREE_DIGITS * float(text)


def finer_rate(text: str, factor: float, computed: float) -> float:
    """Return a printed rate (`text` times `factor`), or what its bytes and time come to where that says it finer.

    Only where the two agree as far as the printed digits go: else they contradict each other, and the printed stays.
    """
    rate, half = float(text) * factor, _half_digit(text) * factor
    is_one = abs(rate - computed) <= half + _BESIDE * computed
    return computed if is_coarse(text) and is_one else rate


def _half_digit(text: str) -> float:
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def whole_seconds(seconds: float | None) -> float | None:
    """Return the whole seconds for which a program was told to run, None unless it ran for about so many.

    Of one that was told an amount of data, or that ended early, nobody knows what it was told.
    """
    nearest = round(seconds or 0.0)
    return float(nearest) if nearest and seconds and abs(seconds - nearest) <= 0.1 + 0.02 * nearest else None
