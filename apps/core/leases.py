"""Who is at work on what: advisory locks of the database, which end with the connection of whoever holds them.

A worker that dies is known to be gone at once, however it died, and one that gives no sign for an hour, because it is
at a long piece of work, is not taken for dead, unless no task may last so long. Whoever finds work begun that nobody
holds takes it up again.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import DateTimeField, Func, Q

# A backend in the middle of a statement looks this often (ms) whether its worker is still there.
_LOOK_MS = 2000
_KEY = "hashtextextended(%s, 0)"
# Whoever holds a lease and was seen to begin or end no statement for so long (s) works no more, and its session is
# ended: no task has longer altogether. Who does what is soon done has less.
IDLE_AFTER_S, IDLE_SOON_AFTER_S = 7 * 3600.0, 100.0
# Whoever is still there so long (s) after it was ended hangs, and cannot be ended.
_ENDS_WITHIN_S = 10.0
_HOLDER = f"""
SELECT pid, state_change FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid <> pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (classid::bigint << 32) | objid::bigint = {_KEY}
"""  # noqa: S608
# Ends a session that is as it was seen: its process, and since when by the server's clock.
END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE (pid, state_change) = (%s, %s)"
# So many leases of others are watched by a process.
_MOST_WATCHED = 1000

logger = logging.getLogger(__name__)


@dataclass
class _Watch:
    """Since when (monotonic, s) this process sees a session with a lease in the same state, and when it ended it.

    How long it is so by the server's clock says nothing: that may be set.
    """

    holder: tuple[int, Any]
    since: float
    ended_at: float | None = None


_watched: dict[str, _Watch] = {}


class _ServerStart(Func):
    function = "pg_postmaster_start_time"
    output_field = DateTimeField()


class _NotAhead(Func):
    """A time of the server's own, or one before all others where it lies ahead: its clock was set back since."""

    template = "CASE WHEN (%(expressions)s) > clock_timestamp() THEN '-infinity' ELSE %(expressions)s END"
    output_field = DateTimeField()


def lost_worker(claimed_at: str) -> Q:
    """Return the condition that work, whose lease nobody holds, had a worker that was lost.

    The one definition for all who count attempts, of work claimed at the field `claimed_at`: a claim of before
    PostgreSQL began to serve lost its lease with PostgreSQL, and whoever had it did nothing wrong.
    """
    return Q(**{f"{claimed_at}__gte": _NotAhead(_ServerStart())})


@contextmanager
def hold(work: str, row_id: int = 0, *, idle_after_s: float = IDLE_AFTER_S) -> Iterator[bool]:
    """Hold the lease on a row (0: the only one) of a kind of work; gives False if another connection has it.

    What is done under it may take any number of transactions. It must not begin within one: the row's claim has to be
    seen by others while the work goes on. Another that has been idle for `idle_after_s` is ended; where that is soon
    (IDLE_SOON_AFTER_S), and it cannot be, as it hangs, its lease counts for nothing: whoever asked it has given it up
    (core.sessions).
    """
    key = f"{work}:{row_id}"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT set_config('client_connection_check_interval', %s, false), pg_try_advisory_lock({_KEY})",
            [str(_LOOK_MS), key],
        )
        is_ours = cursor.fetchone()[1]
        if not is_ours and (pid := _end_idle(cursor, key, idle_after_s)) and idle_after_s <= IDLE_SOON_AFTER_S:
            key = f"{key} beside {pid}"
            cursor.execute(f"SELECT pg_try_advisory_lock({_KEY})", [key])
            is_ours = cursor.fetchone()[0]
    try:
        yield is_ours
    finally:
        if is_ours:
            # Of a connection that has died the lease has gone with it.
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute(f"SELECT pg_advisory_unlock({_KEY})", [key])


def _end_idle(cursor: Any, key: str, after_s: float) -> int | None:
    """End the session that holds a lease and has been idle for so long; return its process if that has no effect."""
    cursor.execute(_HOLDER, [key])
    holder, now, watch = cursor.fetchone(), time.monotonic(), _watched.pop(key, None)
    if holder is None:
        return None
    if watch is None or watch.holder != holder:
        watch = _Watch(holder, now)
        for past in list(_watched)[: 1 - _MOST_WATCHED]:
            _watched.pop(past, None)
    _watched[key] = watch
    pid, idle_s = holder[0], now - watch.since
    if idle_s < after_s:
        return None
    cursor.execute(END, holder)
    if watch.ended_at is None:
        logger.warning("%s is held by process %s of the database, idle for %.0f s: it is ended", key, pid, idle_s)
        watch.ended_at = now
    return pid if now - watch.ended_at > _ENDS_WITHIN_S else None


def share(work: str) -> None:
    """Have whoever is to be `alone` at a kind of work wait for the end of this transaction; others share it."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_xact_lock_shared({_KEY})", [work])


def be_alone(work: str) -> None:
    """Wait for the transactions of all who `share` a kind of work; who comes now waits for the end of this one."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_xact_lock({_KEY})", [work])


def is_held(work: str, row_id: int = 0) -> bool:
    """Say whether another connection is at a piece of work now."""
    with hold(work, row_id) as is_free:
        return not is_free
