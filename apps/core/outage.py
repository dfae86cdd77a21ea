"""Whether the database and the broker can be used: noticed at the first failure, then looked at until they can be."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
import redis
from django.db import InterfaceError, InternalError, OperationalError, connection
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError as BrokerError

from apps.core import migrated, sessions, signs
from apps.core.outage_watch import Outage, Watch, error_of

_Answer = TypeVar("_Answer")
# What a client is asked to wait before it tries again (s).
RETRY_AFTER_S = 5
# How long (s) one request asks the broker, in all.
BUDGET_S = 1.0
_NAME = "fathom look"
_POOL_S = 0.1
_AWAY = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
# What a call of the broker may raise that cannot be had now.
BROKER_ERRORS = (redis.RedisError, BrokerError, OSError, Outage)
_BROKER_AWAY = (redis.ConnectionError, redis.TimeoutError, BrokerError)
# It answers, but takes nothing: it could not save, has no memory left, is a copy of another, or lacks copies.
_BROKER_REFUSES = (redis.exceptions.OutOfMemoryError, redis.exceptions.ReadOnlyError)
_REFUSALS = ("MISCONF", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN")
# The class of SQLSTATEs that a server gives to connections it refuses or ends; it gives others while it is there.
_ENDED = ("08", "57P")
# The server ended a transaction in which nothing happened for too long (IdleInTransactionSessionTimeout).
_IDLE_TOO_LONG = "25P03"
# It only takes reads (ReadOnlySqlTransaction): it is a copy, or whoever manages it sees its disk fill.
_NO_WRITES = "25006"
# More was asked for than it can do (ProgramLimitExceeded, TooManyColumns): a fault of ours, which does not pass.
_BEYOND_LIMITS = "54"
# It waited for a lock (LockNotAvailable), or worked (QueryCanceled), for longer than it may (core.connections).
_LOCK_TIMEOUT, _STATEMENT_TIMEOUT = "55P03", "57014"


@dataclass
class _BrokerTime:
    """What one request has spent of its time for the broker, and whether that has answered it."""

    seconds: float = 0.0
    has_asked: bool = False
    is_limited: bool = True


_spent: ContextVar[_BrokerTime | None] = ContextVar("what this request has spent on the broker", default=None)


class Busy(Exception):
    """Too much is under way at this moment; the text says what."""


class OneLineEach(logging.Filter):
    """Lets one line through when an outage begins and one when it ends (core.watching), not what fails meanwhile."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be logged."""
        error = error_of(record)
        if error is None or getattr(record, "is_no_outage", False):
            return True
        causes = list(_causes(error))
        for each in (watch, broker_watch):
            if any(each.concerns(cause) for cause in causes):
                return not each.takes(record)
        return True


def database_watch() -> Watch:
    """Return a watch over the database."""
    return Watch(
        "The database",
        concerns=_may_be_away,
        trouble=lambda: (_no_writes() or migrated.trouble()) if _answers() else "no connection can be made",
        renew=lambda: _renew_pool(),
    )


def wait_for_tables() -> None:
    """Refuse everything as while the database is away, until it answers and its tables are those of this code."""
    if (words := migrated.trouble()) is not None:
        watch.begin(words)


def trouble_of_broker() -> str | None:
    """Return why nothing can be given to the broker, in its own words; None if it can."""
    try:
        signs.probe()
    except redis.RedisError as error:
        return words_of(error)
    return None


def words_of(error: BaseException) -> str:
    """Return the first line of what an error says, the name of its kind if that is nothing."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


@contextmanager
def broker_budget() -> Iterator[None]:
    """Let all that is asked of the broker within, one request's, take BUDGET_S together, and an answer more."""
    token = _spent.set(_BrokerTime())
    try:
        yield
    finally:
        _spent.reset(token)


def ask_broker(call: Callable[[], _Answer]) -> _Answer:
    """Return what a call of the broker gives; Outage, without asking, while it is known to be away.

    Whoever asks waits, and holds what others wait for: one who meets that it is away, or hangs, is enough. A request
    asks first for something small, which has less time than a call that may need several answers; Outage, too, once
    it has spent what it may.
    """
    broker_watch.refuse()
    spent, begun = _spent.get() or _BrokerTime(is_limited=False), time.monotonic()
    if spent.is_limited and spent.seconds >= BUDGET_S:
        raise Outage("The message broker has had its time of this request.")
    try:
        if spent.is_limited and not spent.has_asked:
            signs.probe()
            spent.has_asked = True
        return call()
    except Exception as error:
        broker_watch.note(error)
        raise
    finally:
        spent.seconds += time.monotonic() - begun


def is_of_broker(error: BaseException | None) -> bool:
    """Return whether an error says that the broker is away, or refuses what is given to it."""
    if isinstance(error, (*_BROKER_AWAY, *_BROKER_REFUSES)):
        return True
    return isinstance(error, redis.ResponseError) and str(error).startswith(_REFUSALS)


def is_unavailability(error: BaseException | None) -> bool:
    """Return whether an error says that the database or the broker is away or too busy, and not that we are wrong."""
    if isinstance(error, InternalError):
        return _state_of(error) in (_IDLE_TOO_LONG, _NO_WRITES)
    if isinstance(error, OperationalError) and _state_of(error).startswith(_BEYOND_LIMITS):
        return False
    return isinstance(error, (*_AWAY, Outage, Busy)) or is_of_broker(error)


def is_outcome_unknown(error: BaseException) -> bool:
    """Return whether an error says that a COMMIT was sent of which nobody knows whether it was carried out."""
    return any(isinstance(cause, sessions.OutcomeUnknown) for cause in _causes(error))


def reason_of(error: BaseException) -> str:
    """Return in the reader's words why something cannot be had now; empty if its absence says all."""
    if isinstance(error, Busy):
        return str(error)
    words = {
        _LOCK_TIMEOUT: _(
            "Something else holds what this needs locked, and has for too long. Nothing was changed: try again in a"
            " few seconds. /health/ says what is waited for."
        ),
        _STATEMENT_TIMEOUT: _(
            "The database took too long for this. Nothing was changed: try again, or ask for less."
        ),
    }
    return words.get(_state_of(error), "")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, or while handling."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _may_be_away(error: BaseException) -> bool:
    if isinstance(error, Outage):
        return True
    state = _state_of(error)
    return state == _NO_WRITES or (isinstance(error, _AWAY) and (not state or state.startswith(_ENDED)))


def _state_of(error: BaseException) -> str:
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    return getattr(cause, "sqlstate", None) or ""


def _no_writes() -> str | None:
    """Return what is the matter if a new connection is given that takes no writes."""
    try:
        with sessions.beside(_NAME) as session:
            is_read_only = session.execute("SHOW transaction_read_only").fetchone() == ("on",)
    except psycopg.OperationalError:
        return None
    return "it takes no writes (transaction_read_only is on)" if is_read_only else None


def _answers() -> bool:
    """Return whether a new connection can be made, or one of the pool's still works: a server may only be full."""
    return gives_connections() or _pool_answers()


def gives_connections() -> bool:
    """Return whether a new connection can be made."""
    try:
        sessions.beside(_NAME).close()
    except psycopg.OperationalError:
        return False
    return True


def _pool_answers() -> bool:
    held = pool()
    if held is None:
        return False
    try:
        with held.connection(timeout=_POOL_S) as pooled:
            pooled.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def _renew_pool() -> None:
    """Have the pool, if there is one, replace its connections: those that did not die may be of the time before."""
    held = pool()
    if held is not None:
        held.drain()


def pool() -> Any:
    """Return the pool of this process, None if it has none that is open."""
    database: Any = connection
    return None if database.pool is None or database.pool.closed else database.pool


watch = database_watch()
broker_watch = Watch("The message broker", concerns=is_of_broker, trouble=trouble_of_broker)
