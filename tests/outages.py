"""Servers that answer and do not do their work."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from apps.core import broker, handout, outage, signs

# How brokers come to refuse: a setting of theirs, and a word of what they say then.
REFUSALS = {"maxmemory": ("1", "maxmemory"), "min-replicas-to-write": ("1", "NOREPLICAS")}


@contextmanager
def refusing_broker(name: str = "maxmemory") -> Iterator[str]:
    """Have the broker answer and take nothing for one of the reasons; give a word of what it says."""
    value, word = REFUSALS[name]
    server = broker.client(timeout_s=5)
    before = server.config_get(name)[name]
    server.config_set(name, value)
    forget()
    try:
        yield word
    finally:
        server.config_set(name, before)
        until_the_broker_is_back()


def until_the_broker_is_back() -> None:
    """Wait until this process knows that the broker takes work."""
    # One that a test with another address left behind would ask there for ever.
    signs._client.cache_clear()
    deadline = time.monotonic() + 20
    while outage.broker_watch.away_since is not None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    forget()


def forget() -> None:
    """Have the broker be asked at the next look."""
    handout._looked_at = float("-inf")
