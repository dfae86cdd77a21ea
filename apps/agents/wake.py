"""Wake-up calls: tell the server processes in which agents' polls wait that there is something for a node."""

import functools
import logging
from collections.abc import Iterable

import redis
from django.db import transaction

from apps.core import broker, outage

logger = logging.getLogger(__name__)

CHANNEL = "fathom.agents"
# Before a node's number: its agent's token no longer holds.
GONE = "!"
# Before a node's number: what is known of its agent is to be read again.
AGAIN = "~"
TIMEOUT_S = 1.0


def call_nodes(node_ids: Iterable[int]) -> None:
    """Once the transaction is committed, wake the polls of these nodes; a lost call is made good by the sweep."""
    message = ",".join(str(node_id) for node_id in sorted(set(node_ids)))
    if message:
        transaction.on_commit(lambda: _publish(message), robust=True)


def revoke_node(node_id: int) -> None:
    """Once the transaction is committed, have every process forget the node's agent and end its poll."""
    transaction.on_commit(lambda: _publish(f"{GONE}{node_id}"), robust=True)


def look_again(node_id: int) -> None:
    """Once the transaction is committed, have every process read again who works for the node, and wake its poll."""
    transaction.on_commit(lambda: _publish(f"{AGAIN}{node_id}"), robust=True)


@functools.cache
def _client() -> redis.Redis:
    return broker.client(timeout_s=TIMEOUT_S)


def _publish(message: str) -> None:
    try:
        outage.ask_broker(lambda: _client().publish(CHANNEL, message))
    except outage.BROKER_ERRORS as error:
        logger.warning("Redis is away, the next sweep finds what is for nodes %s: %s", message, error)
