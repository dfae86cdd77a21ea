"""Counters of a window of time in Valkey, each raised and read in one step; without Valkey nothing is counted.

The window is fixed: it begins with the first count and ends as a whole. What cannot be counted is let through, for
limits protect the service from a flood and are no lock.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import redis

from apps.core import broker

logger = logging.getLogger(__name__)

_PREFIX = "fathom:limit:"
# Who asks waits no longer than this for a counter (s); after a failure nobody asks for as long.
_PATIENCE_S = 0.5
_PAUSE_S = 5.0
# For each key: raise it by its cost, let it end with its window if it is new; the count and what is left of it (ms).
_COUNT = """
local counts = {}
for i, key in ipairs(KEYS) do
  local cost, window = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local count = redis.call('INCRBY', key, cost)
  local left = redis.call('PTTL', key)
  -- A broker whose clock was ahead when the window began would let it last for as long.
  if left < 0 or left > window then
    redis.call('PEXPIRE', key, window)
    left = window
  end
  counts[2 * i - 1] = count
  counts[2 * i] = left
end
return counts
"""


@dataclass(frozen=True)
class WindowCount:
    """How often something was asked for in the window, this time included, and when the window ends (s from now)."""

    count: int
    ends_in_s: float


@dataclass(frozen=True)
class Charge:
    """One counter to raise: its key, by how much, and how long its window is (s)."""

    key: str
    cost: int
    window_s: float


class _CounterStore:
    """The connection, and since when it is known to fail."""

    def __init__(self) -> None:
        self._client = broker.client(timeout_s=_PATIENCE_S)
        self._count = self._client.register_script(_COUNT)
        self._silent_until = 0.0

    def ask(self, what: Any) -> Any:
        """Return what a call with the client gives, None if Valkey does not answer now or did not a moment ago."""
        if time.monotonic() < self._silent_until:
            return None
        try:
            return what(self._client, self._count)
        except redis.RedisError as error:
            self._silent_until = time.monotonic() + _PAUSE_S
            logger.warning("Nothing is counted for limits: Valkey does not answer (%s)", error)
            return None


@cache
def _store() -> _CounterStore:
    return _CounterStore()


def raise_counts(charges: Sequence[Charge]) -> list[WindowCount] | None:
    """Raise counters together; return the counts in the order of the charges, None if they cannot be counted."""
    if not charges:
        return []
    keys = [_PREFIX + charge.key for charge in charges]
    numbers = [number for charge in charges for number in (charge.cost, int(charge.window_s * 1000))]
    replies = _store().ask(lambda _client, count: count(keys=keys, args=numbers))
    if replies is None:
        return None
    return [
        WindowCount(int(count), int(left) / 1000) for count, left in zip(replies[::2], replies[1::2], strict=True)
    ]


def take_turn(key: str, every_s: float) -> float:
    """Return 0 if it is one's turn, which comes once in so many seconds for all; else how long to wait (s)."""
    name = _PREFIX + key

    def take(client: Any, _count: Any) -> float:
        if client.set(name, 1, nx=True, px=int(every_s * 1000)):
            return 0.0
        left_ms = client.pttl(name)
        if left_ms > every_s * 1000:
            # Its clock was ahead when somebody took the last turn.
            client.set(name, 1, px=int(every_s * 1000))
            return 0.0
        return max(left_ms, 1) / 1000

    return float(_store().ask(take) or 0.0)


def read_counts(keys: Sequence[str]) -> Mapping[str, int]:
    """Return {key: count} of counters without raising them; those that nothing is known of are 0."""
    counts = _store().ask(lambda client, _count: client.mget([_PREFIX + key for key in keys]))
    return {key: int(value or 0) for key, value in zip(keys, counts or [0] * len(keys), strict=True)}


def remember(key: str, seconds: float) -> None:
    """Remember a fact for so long."""
    _store().ask(lambda client, _count: client.set(_PREFIX + key, 1, px=int(seconds * 1000)))


def is_remembered(key: str) -> bool:
    """Say whether a fact is remembered."""
    return bool(_store().ask(lambda client, _count: client.exists(_PREFIX + key)))


def forget(*keys: str) -> None:
    """Forget counters and facts."""
    _store().ask(lambda client, _count: client.delete(*[_PREFIX + key for key in keys]))


def forget_ahead(longest_s: float) -> None:
    """Forget what is to last for longer than anything may (s): the broker's clock was ahead when it was noted."""

    def clear(client: Any, _count: Any) -> None:
        for key in client.scan_iter(match=_PREFIX + "*", count=1000):
            if client.pttl(key) > longest_s * 1000:
                client.delete(key)

    _store().ask(clear)


def forget_all() -> None:
    """Forget every counter, for tests."""

    def clear(client: Any, _count: Any) -> None:
        for key in client.scan_iter(match=_PREFIX + "*", count=1000):
            client.delete(key)

    _store().ask(clear)
