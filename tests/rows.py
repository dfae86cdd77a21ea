"""How many rows of tables something looks at, or writes: what it costs, on a machine of any speed."""

from collections.abc import Callable
from typing import NamedTuple

from django.db import connection

_COUNTS = """
    SELECT coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0),
           coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)
      FROM pg_stat_xact_user_tables WHERE relname = ANY(%s)
"""


class Rows(NamedTuple):
    """Rows looked at and rows written."""

    read: int
    written: int


def know_tables() -> None:
    """Let the planner know how large tables are, as it does soon after they grew."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def of(do: Callable[[], object], *tables: str) -> Rows:
    """Return the rows of tables that `do` costs, within the transaction of a test."""
    before = _counts(tables)
    do()
    after = _counts(tables)
    return Rows(after.read - before.read, after.written - before.written)


def _counts(tables: tuple[str, ...]) -> Rows:
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, [list(tables)])
        return Rows(*map(int, cursor.fetchone()))
