"""`flush` as the tests' teardown calls it: every table truncated takes half a second."""

import time
from typing import Any

from django.core.management.commands import flush
from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

# What `migrate` made and no test changes; Django's own command makes it anew.
_KEPT = ("auth_permission", "django_content_type")
# So long whoever still writes may take (s).
_PATIENCE_S = 60.0


class Command(flush.Command):
    """Delete the rows of those tables that have any.

    It waits for whoever still writes, as TRUNCATE does, so that nothing of one test is left to the next. Meanwhile it
    holds nothing: a worker at its last transaction takes tables in an order of its own.
    """

    def handle(self, **options: Any) -> None:
        """Delete, past the triggers that keep what was measured."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                _delete_all()
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return


def _delete_all() -> None:
    """Delete all rows, or fail at once where somebody still writes."""
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    quoted = [f'"{name}"' for name in sorted(names) if name not in _KEPT]
    having = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in quoted)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(f"LOCK TABLE {', '.join(quoted)} IN SHARE ROW EXCLUSIVE MODE NOWAIT")
        cursor.execute(having)
        for (name,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {name}")
