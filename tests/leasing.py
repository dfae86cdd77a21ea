"""Another worker, as far as leases go: a connection of its own that holds one, and can die."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def elsewhere(work: str, row_id: int = 0) -> Iterator[None]:
    """Have another connection hold the lease; it dies at the end, and lets go of nothing by itself."""
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [f"{work}:{row_id}"])
            assert cursor.fetchone() == (True,)
        yield
    finally:
        other.close()
