"""Let a test change what was measured, which the database refuses: it plays an older parser, or an earlier time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, models


@contextmanager
def allowed() -> Iterator[None]:
    """Let this connection's statements pass the triggers that keep what was measured."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        try:
            yield
        finally:
            cursor.execute("SET session_replication_role = DEFAULT")


def update(rows: models.QuerySet[Any] | models.Manager[Any], **values: object) -> None:
    """Give rows other values."""
    with allowed():
        rows.update(**values)


def delete(what: models.QuerySet[Any] | models.Model) -> None:
    """Take rows, or one, away."""
    with allowed():
        what.delete()
