"""How long to wait before trying again."""

from __future__ import annotations

import random

FIRST_S = 0.2


class Backoff:
    """The waits after failures in a row: doubling from 0.2 s to `most` (s), with jitter so that a crowd spreads."""

    def __init__(self, most: float = 5.0) -> None:
        self._most = most
        self._next = FIRST_S

    def reset(self) -> None:
        """Start over, after a success."""
        self._next = FIRST_S

    def next(self) -> float:
        """Return the next wait (s)."""
        wait = self._next
        self._next = min(self._most, wait * 2)
        return wait * random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing
