"""Rows that the database refuses to change: whoever works at one fails, as with any fault of a row."""

from collections.abc import Callable
from typing import Any

from django.db import connection

NAME = "poison_of_a_test"
REASON = "this row is poisoned"


def row(
    model: Any, pk: object, *, column: str = "", insert: bool = False, state: str = "raise_exception"
) -> Callable[[], None]:
    """Poison a row until what this returns is called: each UPDATE and DELETE of it fails.

    With `insert`, each INSERT that names it in `column` instead. `state` is PostgreSQL's name of the fault. A test
    that commits calls `cure` at its end.
    """
    table, name = model._meta.db_table, NAME
    event, which = ("INSERT", "NEW") if insert else ("UPDATE OR DELETE", "OLD")
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN RAISE EXCEPTION '{REASON}' USING ERRCODE = '{state}'; END $$"
        )
        cursor.execute(
            f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW"
            f" WHEN ({which}.{column or model._meta.pk.column}::text = '{pk}') EXECUTE FUNCTION {name}()"
        )

    return cure


def cure() -> None:
    """Take what was poisoned back."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP FUNCTION IF EXISTS {NAME}() CASCADE")
