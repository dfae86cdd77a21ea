"""Whether the database can be reached: noticed at the first failing query, and looked at again until it is back."""

import logging
import threading
import time
from datetime import datetime
from typing import Any

import psycopg
from django.db import InterfaceError, InternalError, OperationalError, connection
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

logger = logging.getLogger(__name__)

# What a client is asked to wait before it tries again (s).
RETRY_AFTER_S = 5
_LOOK_EVERY_S = 0.5
_CONNECT_S = 3
_POOL_S = 0.1
_AWAY = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
_BROKER_AWAY = (RedisConnectionError, RedisTimeoutError, BrokerError)
# The class of SQLSTATEs that a server gives to connections it refuses or ends; it gives others while it is there.
_ENDED = ("08", "57P")
# The server ended a transaction in which nothing happened for too long (IdleInTransactionSessionTimeout).
_IDLE_TOO_LONG = "25P03"


class Outage(Exception):
    """The database is known to be away: nothing was asked of it."""


class AnsweredElsewise(logging.Filter):
    """Lets through what is logged of requests but that they were answered with 503."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be logged."""
        return getattr(record, "status_code", None) != 503


class Busy(Exception):
    """Too much is under way at this moment; the text says what."""


class Watch:
    """What one process knows of the database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_looking = False
        self._away_since: datetime | None = None

    @property
    def away_since(self) -> datetime | None:
        """Return since when the database is known to be away; None while it is not."""
        return self._away_since

    def note(self, error: BaseException) -> None:
        """Look at the database in a thread of its own, once at a time, if an error may mean that it is away."""
        if not _may_be_away(error):
            return
        with self._lock:
            if self._is_looking:
                return
            self._is_looking = True
        threading.Thread(target=self._look, name="database-outage", daemon=True).start()

    def refuse(self) -> None:
        """Raise Outage if the database is known to be away, so that nobody waits for a connection."""
        if self._away_since is not None:
            raise Outage("The database is away.")

    def _look(self) -> None:
        try:
            while not _answers():
                if self._away_since is None:
                    self._away_since = timezone.now()
                    logger.warning("The database is away")
                time.sleep(_LOOK_EVERY_S)
            _renew_pool()
        except Exception:
            logger.exception("The database could not be looked at")
        finally:
            if self._away_since is not None:
                logger.warning("The database is back, it was away since %s", self._away_since)
            self._away_since = None
            self._is_looking = False


watch = Watch()


def is_unavailability(error: BaseException | None) -> bool:
    """Return whether an error says that the database or the broker is away or too busy, and not that we are wrong."""
    if isinstance(error, InternalError):
        return _state_of(error) == _IDLE_TOO_LONG
    return isinstance(error, (*_AWAY, *_BROKER_AWAY, Outage, Busy))


def _may_be_away(error: BaseException) -> bool:
    state = _state_of(error)
    return isinstance(error, _AWAY) and (not state or state.startswith(_ENDED))


def _state_of(error: BaseException) -> str:
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    return getattr(cause, "sqlstate", None) or ""


def _answers() -> bool:
    """Return whether a new connection can be made, or one of the pool's still works: a server may only be full."""
    limits = {**connection.get_connection_params(), "connect_timeout": _CONNECT_S}
    try:
        psycopg.connect(**limits).close()
    except psycopg.OperationalError:
        return _pool_answers()
    return True


def _pool_answers() -> bool:
    pool = _pool()
    if pool is None:
        return False
    try:
        with pool.connection(timeout=_POOL_S) as pooled:
            pooled.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def _renew_pool() -> None:
    """Have the pool, if there is one, replace the connections that died."""
    pool = _pool()
    if pool is not None:
        pool.check()


def _pool() -> Any:
    """Return the pool of this process, None if it has none that is open."""
    database: Any = connection
    return None if database.pool is None or database.pool.closed else database.pool
