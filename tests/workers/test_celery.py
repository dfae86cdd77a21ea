"""How messages are sent, and tasks carried out."""

import time
from pathlib import Path

import pytest
from celery.fixups.django import DjangoWorkerFixup
from django.db import connection
from kombu.exceptions import OperationalError

from apps.core import connections, queue
from launch import service
from workers import tasks
from workers.celery import app


def test_a_broker_that_is_away_keeps_nobody_waiting() -> None:
    broker = app.connection_for_write("redis+socket:///nowhere.sock")
    begin = time.perf_counter()
    with pytest.raises(OperationalError):
        broker.default_channel.client.ping()
    assert time.perf_counter() - begin < 2


def test_a_task_keeps_the_connection_of_the_task_before_it() -> None:
    assert DjangoWorkerFixup(app).db_reuse_max >= 10**9


def of_a_worker() -> dict[str, object]:
    """Return what a worker makes of the address of the test database."""
    entry = {**connection.settings_dict, "OPTIONS": {**connection.settings_dict["OPTIONS"]}}
    connections.fit_to_worker(entry)
    return entry


@pytest.mark.django_db(transaction=True)
def test_a_task_has_the_limits_that_its_work_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in of_a_worker().items():
        monkeypatch.setitem(connection.settings_dict, name, value)
    connection.close()

    def ask() -> dict[str, str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name, setting FROM pg_settings WHERE name LIKE '%timeout'")
            return dict(cursor.fetchall())

    short = app.task(name="tests.short")(ask)
    long = app.task(name="tests.long")(ask)
    monkeypatch.setattr(queue, "LONG_TASKS", (*queue.LONG_TASKS, "tests.long"))
    for task in (short, long):
        task.push_request(called_directly=False, is_eager=False)
    before, during, after = short(), long(), short()
    limits = {"statement_timeout": "60000", "lock_timeout": "20000", "idle_in_transaction_session_timeout": "60000"}
    assert before.items() >= limits.items()
    assert during.items() >= {"statement_timeout": "0", "idle_in_transaction_session_timeout": "900000"}.items()
    assert after == before
    for task in (short, long):
        del app.tasks[task.name]
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_task_gives_up_a_connection_that_has_died(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in of_a_worker().items():
        monkeypatch.setitem(connection.settings_dict, name, value)
    connection.close()

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


def test_long_work_has_a_queue_of_its_own_and_each_queue_a_worker(tmp_path: Path) -> None:
    # Beat and whoever else sends by name asks this router.
    own = [name for name in app.tasks if name.startswith(f"{tasks.__name__}.")]
    queues = {name: app.amqp.router.route({}, name)["queue"].name for name in own}
    assert {name for name, where in queues.items() if where == queue.LONG} == set(queue.LONG_TASKS)
    assert {queue.RENDER, queue.BULKY, queue.DELIVER} <= set(queue.LONG_TASKS)
    assert not {queue.JOB_CHANGED, queue.SCHEDULE, queue.OPEN_STAGES, "workers.tasks.tick"} & set(queue.LONG_TASKS)
    parts = {process.name: process.argv for process in service.Service(tmp_path)._table()}
    looked_after = {word.removeprefix("--queues=") for argv in parts.values() for word in argv if "--queues=" in word}
    assert looked_after == set(queues.values()) == set(app.amqp.queues)
    assert "--concurrency=2" in parts["worker-long"]
