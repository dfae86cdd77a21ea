"""Sessions of PostgreSQL that are given up by who waits: one whose server process hangs would be waited for for ever.

The limits of the server (apps.core.connections.LIMITS) are kept by the very process that hangs, and keepalives are
answered by its kernel.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import psycopg
from django.db import connection
from psycopg.abc import PQGen

# Of a session for one look, how long it may take to come, and each answer (s).
_CONNECT_S, _LOOK_S = 3, 5.0
# What is asked meanwhile is waited for no longer (s).
_within: ContextVar[float | None] = ContextVar("how long an answer of the database may take", default=None)


class OutcomeUnknown(psycopg.OperationalError):
    """The connection broke after COMMIT was sent: whether it was carried out nobody knows."""


class Session(psycopg.Connection[Any]):
    """A connection that is closed when one answer takes longer than `answers_within_s`, None for no limit."""

    answers_within_s: float | None = None

    @classmethod
    def connect(cls, conninfo: str = "", *, answers_within_s: Any = None, **named: Any) -> Self:
        """Connect as psycopg does, with the limit."""
        session = super().connect(conninfo, **named)
        session.answers_within_s = answers_within_s
        return session

    def commit(self) -> None:
        """Commit as psycopg does; OutcomeUnknown if the answer to it is lost."""
        is_open = not self.closed
        try:
            super().commit()
        except psycopg.OperationalError as error:
            if is_open and self.closed:
                raise OutcomeUnknown(str(error)) from error
            raise

    def wait(self, gen: PQGen[Any], interval: float = 0.1, timeout: float | None = None) -> Any:
        """Wait as psycopg does; OperationalError, and the connection is closed, if it takes too long.

        A session that began while the database took no writes takes none for as long as it lasts: it is closed, too.
        """
        try:
            return self._wait(gen, interval, timeout)
        except psycopg.errors.ReadOnlySqlTransaction:
            self.close()
            raise

    def _wait(self, gen: PQGen[Any], interval: float, timeout: float | None) -> Any:
        limits = [limit for limit in (self.answers_within_s, _within.get()) if limit is not None]
        if timeout is not None or not limits:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, min(limits))
        except psycopg.errors._WaitTimeout as error:
            pid = self.info.backend_pid
            # Whether it was done nobody knows, as when a connection breaks.
            self.close()
            words = f"the database's process {pid} gave no answer within {min(limits):g} s: its session is given up"
            raise psycopg.OperationalError(words) from error


@contextmanager
def answered_within(seconds: float) -> Iterator[None]:
    """Have whatever this task asks within the block answered so soon, or given up."""
    token = _within.set(seconds)
    try:
        yield
    finally:
        _within.reset(token)


def beside(name: str, **given: Any) -> Session:
    """Return a session of its own for one look: all that this process has may wait.

    A psycopg.OperationalError if none is had within seconds, nor an answer in it.
    """
    limits = {"connect_timeout": _CONNECT_S, "answers_within_s": _LOOK_S, "application_name": name}
    return Session.connect(**{**connection.get_connection_params(), **limits, **given})
