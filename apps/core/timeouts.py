"""How long statements, locks and idle transactions may last: work that is known to be long asks for more."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connection

# How long a transaction in which nothing is asked may last (s), and one of long work.
IDLE_S, LONG_IDLE_S = 60, 900
# What the name of a session ends in meanwhile.
LONG = " long"
# Milliseconds. A statement of long work takes as long as it takes; who waits for its locks is not kept for ever.
_LONG = {"statement_timeout": 0, "lock_timeout": 120_000, "idle_in_transaction_session_timeout": LONG_IDLE_S * 1000}
_NAME = "application_name"
# But no task of it has longer altogether (s): a server process that hangs is given up then.
_LONG_ANSWERS_WITHIN_S = 6 * 3600.0


@contextmanager
def long_work() -> Iterator[None]:
    """Lift the limits of this thread's connection (apps.core.connections.LIMITS) for the block."""
    begin_long_work()
    try:
        yield
    finally:
        end_long_work()


def begin_long_work() -> None:
    """Lift the limits of this thread's connection, until end_long_work()."""
    with connection.cursor() as cursor:
        for name, value in _LONG.items():
            cursor.execute(f"SET SESSION {name} = {value}")
        cursor.execute(f"SELECT set_config('{_NAME}', current_setting('{_NAME}') || %s, false)", [LONG])
    if (limit_s := connection.connection.answers_within_s) is not None:
        connection.connection.answers_within_s = max(limit_s, _LONG_ANSWERS_WITHIN_S)


def end_long_work() -> None:
    """Put this thread's connection under its limits again; a connection that is lost needs none."""
    if connection.connection is None:
        return
    connection.connection.answers_within_s = connection.settings_dict["OPTIONS"].get("answers_within_s")
    try:
        with connection.cursor() as cursor:
            for name in (*_LONG, _NAME):
                cursor.execute(f"RESET {name}")
    except Error:
        connection.close()
