"""Adding doubts to a reading."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench.toolkit import Flag, Reading


def add_flags(reading: Reading, flags: Sequence[Flag], observed: Mapping[str, Any]) -> Reading:
    """Return the reading with further flags, those of names it has already left out, and with what was observed."""
    names = {flag.name for flag in reading.flags}
    fresh = tuple(flag for flag in flags if flag.name not in names)
    return dataclasses.replace(reading, flags=(*reading.flags, *fresh), observed={**reading.observed, **observed})
