"""What several rules read of one evidence, which never changes once it is made: it is read once."""

import functools
from collections.abc import Callable
from typing import TypeVar

from apps.bench.rules.base import Evidence

T = TypeVar("T")


def read_once(read: Callable[[Evidence], T]) -> Callable[[Evidence], T]:
    """Return a reading that is kept with its evidence; what it raises is raised again each time that it is asked."""
    name = f"{read.__module__}.{read.__qualname__}"

    @functools.wraps(read)
    def kept(evidence: Evidence) -> T:
        readings = vars(evidence)
        if name not in readings:
            readings[name] = read(evidence)
        reading: T = readings[name]
        return reading

    return kept
