"""How long to wait before trying again."""

from __future__ import annotations

import random

FIRST_S = 0.2


class Backoff:
    """The waits after failures in a row: doubling from `first` to `most` (s), with jitter so that a crowd spreads."""

    def __init__(self, most: float = 5.0, first: float = FIRST_S) -> None:
        self._most, self._first = most, first
        self._next = first

    def reset(self) -> None:
        """Start over, after a success."""
        self._next = self._first

    def next(self) -> float:
        """Return the next wait (s)."""
        wait = self._next
        self._next = min(self._most, wait * 2)
        return wait * random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing
