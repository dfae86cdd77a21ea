"""Connections to the broker (Redis or Valkey), kept so that a server whose machine is gone is noticed."""

import socket
from typing import Any

import redis
import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

_KEEPALIVES: dict[str, Any] = {
    "socket_keepalive": True,
    # Seconds of silence before the first question and between two, and how many may go unanswered.
    "socket_keepalive_options": {socket.TCP_KEEPIDLE: 20, socket.TCP_KEEPINTVL: 10, socket.TCP_KEEPCNT: 3}
    if hasattr(socket, "TCP_KEEPIDLE")
    else {},
    "socket_connect_timeout": 10.0,
}
# How long (s) an answer may take of a broker that is there but hangs: whoever launches a campaign waits for no more.
_ANSWER_S = 3.0


def options_of(url: str) -> dict[str, Any]:
    """Return the options of every connection to an address; a Unix socket needs none."""
    return {} if url.startswith("unix:") else dict(_KEEPALIVES)


def asking_options_of(url: str) -> dict[str, Any]:
    """Return the options of connections on which whoever asks waits for the answer, over TCP or a Unix socket."""
    return options_of(url) | {"socket_timeout": _ANSWER_S}


def client(*, timeout_s: float) -> redis.Redis:
    """Return a client that gives up on a connection, or on an answer, after `timeout_s`."""
    limits: dict[str, Any] = {"socket_connect_timeout": timeout_s, "socket_timeout": timeout_s}
    # A connection that Redis closed while it was idle is opened anew, once; who did not answer is not asked again.
    retry = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
    return redis.Redis.from_url(settings.REDIS_URL, **(options_of(settings.REDIS_URL) | limits), retry=retry)


def listening_client() -> redis.asyncio.Redis:
    """Return a client for a subscription: it waits for as long as nothing comes, and never reconnects by itself."""
    retry = AsyncRetry(NoBackoff(), 0)
    return redis.asyncio.Redis.from_url(settings.REDIS_URL, **options_of(settings.REDIS_URL), retry=retry)
