"""What fio means by a letter behind a number: the base that kb_base names, and with "ib" behind it the other one."""

import re
from collections.abc import Mapping

_OPTIONS = (
    *("bs", "blocksize", "size", "filesize", "rate", "rate_iops"),
    *("iodepth", "numjobs", "rwmixread", "fsync"),
)
_AMOUNT = re.compile(r"(?<![\w.])(\d{1,15})([kmgtp]?)(i?b?)(?![\w.])", re.A | re.I)


def base_of(options: Mapping[str, str]) -> int:
    """Return what a k is by options."""
    return 1000 if options.get("kb_base") == "1000" else 1024


def plain(name: str, value: str, given: Mapping[str, str]) -> str:
    """Return the value of an option with its amounts as plain numbers, by what was given before it."""
    base = base_of(given)

    def number(match: re.Match[str]) -> str:
        factor = 2024 - base if match[3].lower() == "ib" else base
        return str(int(match[1]) * factor ** " kmgtp".index(match[2].lower() or " "))

    return _AMOUNT.sub(number, value) if name in _OPTIONS else value


def whole(text: str | None) -> int | None:
    """Return the number of an option whose amounts are plain, None if it is none (a share, a range)."""
    return int(text) if text and re.fullmatch(r"\d{1,30}", text, re.A) else None
