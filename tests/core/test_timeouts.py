"""What holds a lock or a transaction too long is ended by the database itself; long work has longer."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection

from apps.core import connections, timeouts
from tests.agents.live import database_url

SHORT = connections.LIMITS.replace("=60s", "=1s").replace("=20s", "=300ms")


def setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])


@contextlib.contextmanager
def limited() -> Iterator[psycopg.Connection[Any]]:
    """Give a connection with the limits of a web process, a sixtieth as long."""
    with psycopg.connect(database_url(), options=SHORT) as made:
        yield made


@pytest.mark.django_db(transaction=True)
def test_a_frozen_transaction_is_ended_and_what_it_held_is_free() -> None:
    with limited() as frozen:
        frozen.execute("CREATE TABLE IF NOT EXISTS frozen_here (n integer)")
        frozen.commit()
        frozen.execute("LOCK TABLE frozen_here")
        # It does nothing more; another waits for what it holds.
        with psycopg.connect(database_url()) as waiting:
            began = time.monotonic()
            waiting.execute("LOCK TABLE frozen_here")
            assert time.monotonic() - began < 30
            waiting.execute("DROP TABLE frozen_here")
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            frozen.execute("SELECT 1")


@pytest.mark.django_db(transaction=True)
def test_who_waits_for_a_lock_gives_up() -> None:
    with psycopg.connect(database_url()) as holder, limited() as waiting:
        holder.execute("SELECT pg_advisory_xact_lock(4711)")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            waiting.execute("SELECT pg_advisory_xact_lock(4711)")
        waiting.rollback()
        holder.rollback()


@pytest.mark.django_db(transaction=True)
def test_long_work_has_longer_and_then_the_limits_are_back() -> None:
    limits = (*timeouts._LONG, "application_name")
    usual = {name: setting(name) for name in limits}
    with timeouts.long_work():
        assert setting("idle_in_transaction_session_timeout") == "15min"
        assert setting("lock_timeout") == "2min"
        assert setting("statement_timeout") == "0"
        assert setting("application_name") == usual["application_name"] + timeouts.LONG
    assert {name: setting(name) for name in limits} == usual


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_was_lost_needs_no_limits_back() -> None:
    with timeouts.long_work():
        connection.close()
    with timeouts.long_work(), connection.cursor() as cursor, contextlib.suppress(Exception):
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    assert setting("lock_timeout")
    connection.close()
