"""Tell the open pages of a campaign that something changed; they fetch what they show themselves."""

import functools
import json
import logging
from collections.abc import Collection
from typing import Any

import redis
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction

from apps.bench import strict_json
from apps.core import broker, outage

logger = logging.getLogger(__name__)

TIMEOUT_S = 1.0


def group_of(campaign_id: int) -> str:
    """Return the name of the channel group of a campaign's viewers."""
    return f"campaign.{campaign_id}"


def publish(campaign_id: int, kind: str, **ids: int) -> None:
    """Say, once the transaction is committed, that something of `kind` changed; best effort.

    Kinds: "campaign" (its state), "trial" (with `experiment`, `trial`), "event", "findings", "waits" (what it waits
    for). A viewer that misses a
    message sees the change at the next one, or at its next poll.
    """
    message: dict[str, object] = {"type": "campaign.changed", "kind": kind, "ids": ids}
    transaction.on_commit(lambda: _send(campaign_id, message), robust=True)


@functools.cache
def _client() -> redis.Redis:
    return broker.client(timeout_s=TIMEOUT_S)


def swap(name: str, entries: Collection[str]) -> set[str]:
    """Keep a set of texts under a name for all workers, and return the one kept before; best effort.

    Nothing kept before is an empty set; with nobody there to keep it nothing seems to have changed.
    """
    layer: Any = settings.CHANNEL_LAYERS["default"]
    key = f"{layer['CONFIG']['prefix']}__kept__{name}"
    try:
        before: Any = outage.ask_broker(lambda: _client().set(key, strict_json.dumps(sorted(entries)), get=True))
    except outage.BROKER_ERRORS as error:
        logger.warning("What viewers were told last is not known: %s", error)
        return set(entries)
    return set(json.loads(before)) if before else set()


def _send(campaign_id: int, message: dict[str, object]) -> None:
    # What the layer's own group_send() does, without the event loop and the new connection (1.5 ms) that calling it
    # from a worker costs for each message.
    layer: Any = settings.CHANNEL_LAYERS["default"]
    prefix = layer["CONFIG"]["prefix"]
    try:
        text = get_channel_layer().serialize(message)
        outage.ask_broker(lambda: _client().publish(f"{prefix}__group__{group_of(campaign_id)}", text))
    except outage.BROKER_ERRORS as error:
        logger.warning("Viewers of campaign %s were not told of a change: %s", campaign_id, error)
