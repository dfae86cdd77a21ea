"""Another worker, as far as leases go: a connection of its own that holds one, and can die."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from apps.core import leases


@contextmanager
def elsewhere(work: str, row_id: int = 0) -> Iterator[None]:
    """Have another connection hold the lease; at the end it dies, lets go of nothing by itself, and is waited for."""
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [f"{work}:{row_id}"])
            assert cursor.fetchone() == (True,)
        yield
    finally:
        other.close()
    assert is_free_in_time(work, row_id)


def is_free_in_time(work: str, row_id: int = 0) -> bool:
    """Say whether a lease is free within ten seconds: a backend ends a moment after its client."""
    deadline = time.monotonic() + 10
    while leases.is_held(work, row_id):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
