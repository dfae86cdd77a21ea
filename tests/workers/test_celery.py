"""How messages are sent, and tasks carried out."""

import time

import pytest
from celery.fixups.django import DjangoWorkerFixup
from django.db import connection
from kombu.exceptions import OperationalError

from workers.celery import app


def test_a_broker_that_is_away_keeps_nobody_waiting() -> None:
    broker = app.connection_for_write("redis+socket:///nowhere.sock")
    begin = time.perf_counter()
    with pytest.raises(OperationalError):
        broker.default_channel.client.ping()
    assert time.perf_counter() - begin < 2


def test_a_task_keeps_the_connection_of_the_task_before_it() -> None:
    assert DjangoWorkerFixup(app).db_reuse_max >= 10**9


@pytest.mark.django_db(transaction=True)
def test_a_task_gives_up_a_connection_that_has_died() -> None:
    @app.task(name="tests.ask")
    def ask() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return cursor.fetchone()[0]

    ask.push_request(called_directly=False, is_eager=False)
    before = ask()
    assert ask() == before
    connection.connection.close()
    connection.errors_occurred = True
    assert ask() != before
    del app.tasks["tests.ask"]
