"""Signs of workers as tests give them, and what /health/ makes of them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from apps.core import broker, queue, signs


@pytest.fixture(autouse=True)
def nobody_gave_a_sign() -> Iterator[None]:
    client = broker.client(timeout_s=1)
    keys = (signs._KEY, signs._UNREAD, signs._LOOKED_AT, signs._ENDED)
    client.delete(*keys)
    yield
    client.delete(*keys)


ALL = (queue.CLOCK, queue.SHORT, queue.LONG)


def give(name: str, *, ago_s: float = 0, turn_ago_s: float | None = None, queues: tuple[str, ...] = ALL) -> None:
    """Have given a sign some seconds ago."""
    signs.give(name, running_s=60, turn_ago_s=turn_ago_s, queues=queues)
    client = broker.client(timeout_s=1)
    stored = json.loads(client.hget(signs._KEY, name))
    moved = {key: value - ago_s if isinstance(value, float) else value for key, value in stored.items()}
    client.hset(signs._KEY, name, json.dumps(moved))


def parts(client: Client) -> dict[str, Any]:
    answer = client.get("/health/")
    return answer.json()["parts"]
