"""What the database was migrated to, asked when a part of the service starts, by commands and by /health/."""

import contextlib
import logging
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import psycopg
import redis
from django.db import ProgrammingError
from django.utils import translation

from apps.core import clock, holding, sessions, signs, tables
from apps.core.tables import Step, VersionGap

logger = logging.getLogger(__name__)

# /health/ asks at most so often (s).
LOOK_EVERY_S = 2.0
_NAME = "fathom start"
_APPLIED = "SELECT app, name FROM django_migrations"


@dataclass(frozen=True)
class TableCheck:
    """The gap that the last look found, when it was (monotonic), and since when there is one."""

    at: float = float("-inf")
    gap: VersionGap | None = None
    # Since when there has been one.
    since: clock.Since = field(default_factory=clock.Since)


_last = TableCheck()
_lock = threading.Lock()


def trouble() -> str | None:
    """Return why this process cannot begin, None once the tables were found to be those of its code."""
    if holding.is_over():
        return None
    try:
        steps = applied()
    except psycopg.OperationalError:
        return "no connection can be made"
    note(steps)
    return holding.judge(steps)


def note(steps: frozenset[Step]) -> None:
    """Note the steps for the timetable, which has no connection to the database; a broker that is away takes none."""
    with contextlib.suppress(redis.RedisError):
        signs.note_steps(steps)


def applied(cursor: Any = None) -> frozenset[Step]:
    """Return the steps that the database has, asked with a cursor or over a connection of its own.

    A psycopg.OperationalError if it does not answer within seconds.
    """
    if cursor is not None:
        return _ask(cursor)
    with contextlib.closing(sessions.beside(_NAME, autocommit=True)) as own:
        return _ask(own.cursor())


def _ask(cursor: Any) -> frozenset[Step]:
    try:
        cursor.execute(_APPLIED)
    except (psycopg.errors.UndefinedTable, ProgrammingError):
        # Nothing has been migrated yet.
        return frozenset()
    return frozenset((app, name) for app, name in cursor.fetchall())


def look() -> TableCheck:
    """Find in what the tables are not those of the code on the disk, or of this process; nothing if they are of both.

    At most each LOOK_EVERY_S. A psycopg.OperationalError if the database does not answer.
    """
    global _last
    with _lock:
        if time.monotonic() - _last.at < LOOK_EVERY_S:
            return _last
        gap = _compare_both(applied())
        since = _last.since if gap == _last.gap else clock.Since()
        if gap is not None and gap != _last.gap:
            with translation.override(None):
                logger.warning("%s", gap.words())
        _last = TableCheck(time.monotonic(), gap, since)
        return _last


def _compare_both(steps: frozenset[Step]) -> VersionGap | None:
    gap = tables.compare(tables.on_disk(), steps)
    if gap is None and tables.compare(tables.of_this_code(), steps) is not None:
        return VersionGap(is_stale=True)
    return gap
