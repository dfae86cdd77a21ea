"""A row's number before there is the row: what takes long is done under it, without a transaction."""

from django.db import connection, models


def next_number(model: type[models.Model]) -> int:
    """Return the number that a row to come is to have; no other gets it, also if this one never comes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, %s))", [model._meta.db_table, "id"])
        (number,) = cursor.fetchone()
    return int(number)
