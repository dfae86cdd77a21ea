"""How PostgreSQL is, asked over a connection of its own: those of this process may all wait for a lock."""

import time
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection

from apps.core import server_words, sessions
from apps.core.connections import WEB

_NAME = "fathom health"
# Who waits no longer than this waits for what others do all the time (s).
_LONG_S = 5.0
# A look that takes so long (s) is slow: it asks next to nothing.
_SLOW_S = 2.0
_MOST_TABLES = 5
_LOOK = """
SELECT pg_postmaster_start_time(),
       count(*) FILTER (WHERE waits),
       max(now() - query_start) FILTER (WHERE waits),
       count(*) FILTER (WHERE lasts)
FROM (SELECT query_start, wait_event_type = 'Lock' AND now() - query_start > %(long)s AS waits,
             wait_event_type IS DISTINCT FROM 'Lock' AND now() - query_start > %(long)s
             AND state = 'active' AND application_name = %(web)s AS lasts
      FROM pg_stat_activity WHERE datname = current_database()) AS backend
"""
# Who waits for a row holds the place in its table, who waits for a table waits for that itself.
_TABLES = """
SELECT DISTINCT relname FROM pg_locks JOIN pg_class ON pg_class.oid = relation
WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (NOT granted OR locktype = 'tuple')
ORDER BY relname LIMIT %(most)s
"""


# What a function returns goes to the disk where it does not fit into memory: no row is written, and nothing is left.
_TRY = "SELECT count(*) FROM generate_series(1, 80000)"


@dataclass(frozen=True)
class DatabaseState:
    """Since when the server runs, how many statements have waited for locks for long, and for which `tables`.

    `took_s` is how long the look took, `lasting` how many statements of requests have run for long.
    """

    started: datetime
    waiting: int
    longest_wait: timedelta
    tables: tuple[str, ...] = ()
    lasting: int = 0
    took_s: float = 0.0

    @property
    def is_slow(self) -> bool:
        """Say whether the look was answered late."""
        return self.took_s > _SLOW_S

    @property
    def is_piling_up(self) -> bool:
        """Say whether more than half of a web process's connections wait for answers: downloads have half at most."""
        return self.lasting > settings.WEB_CONNECTIONS // 2


def look() -> DatabaseState:
    """Return how the server is; an OperationalError if it does not answer within seconds.

    If it has no room for another connection, one of the process's own is asked, but not if it shuts down.
    """
    begun = time.monotonic()
    return replace(_looked(), took_s=time.monotonic() - begun)


def _looked() -> DatabaseState:
    try:
        own = sessions.beside(_NAME, autocommit=True)
    except psycopg.OperationalError as error:
        if server_words.shuts_down(error):
            raise
        with connection.cursor() as cursor:
            return _ask(cursor)
    try:
        own.execute("SET statement_timeout = '4s'")
        return _ask(own.cursor())
    finally:
        own.close()


def has_room() -> bool:
    """Return whether the server can write a MiB to its disk; an OperationalError if it does not answer."""
    with sessions.beside(_NAME) as own:
        try:
            own.execute("SET LOCAL statement_timeout = '3s'")
            own.execute("SET LOCAL work_mem = '64kB'")
            own.execute(_TRY)
        except psycopg.errors.DiskFull:
            return False
        finally:
            own.rollback()
    return True


def _ask(cursor: Any) -> DatabaseState:
    cursor.execute(_LOOK, {"long": timedelta(seconds=_LONG_S), "web": WEB})
    started, waiting, longest, lasting = cursor.fetchone()
    if not waiting:
        return DatabaseState(started, 0, timedelta(), lasting=lasting)
    cursor.execute(_TABLES, {"most": _MOST_TABLES})
    return DatabaseState(started, waiting, longest, tuple(name for (name,) in cursor.fetchall()), lasting)
