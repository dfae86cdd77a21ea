"""Who is at work on what: advisory locks of the database, which end with the connection of whoever holds them.

A worker that dies is known to be gone at once, however it died, and one that gives no sign for an hour, because it is
at a long piece of work, is not taken for dead. Whoever finds work begun that nobody holds takes it up again.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import DatabaseError, connection
from django.db.models import DateTimeField, Func, Q

# A backend in the middle of a statement looks this often (ms) whether its worker is still there.
_LOOK_MS = 2000
_KEY = "hashtextextended(%s, 0)"


class _ServerStart(Func):
    function = "pg_postmaster_start_time"
    output_field = DateTimeField()


def lost_worker(claimed_at: str) -> Q:
    """Return the condition that work, whose lease nobody holds, had a worker that was lost.

    The one definition for all who count attempts, of work claimed at the field `claimed_at`: a claim of before
    PostgreSQL began to serve lost its lease with PostgreSQL, and whoever had it did nothing wrong.
    """
    return Q(**{f"{claimed_at}__gte": _ServerStart()})


@contextmanager
def hold(work: str, row_id: int = 0, *, waits: bool = False) -> Iterator[bool]:
    """Hold the lease on a row (0: the only one) of a kind of work; gives False if another connection has it.

    Who `waits` has it after the other, or OperationalError where that takes longer than locks are waited for.
    What is done under it may take any number of transactions. It must not begin within one: the row's claim has to be
    seen by others while the work goes on.
    """
    key, take = f"{work}:{row_id}", "pg_advisory_lock" if waits else "pg_try_advisory_lock"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT set_config('client_connection_check_interval', %s, false), {take}({_KEY})",
            [str(_LOOK_MS), key],
        )
        is_ours = waits or cursor.fetchone()[1]
    try:
        yield is_ours
    finally:
        if is_ours:
            # Of a connection that has died the lease has gone with it.
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute(f"SELECT pg_advisory_unlock({_KEY})", [key])


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
