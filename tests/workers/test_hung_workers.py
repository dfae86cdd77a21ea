"""Real workers of which processes are held by the kernel: each is ended alone, and what waited behind it goes on."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection

from apps.core import broker, health, queue, signs
from tests import factories
from tests.hanging import held as held_by_a_tracer
from tests.workers import processes
from tests.workers.works import a_report, held
from workers import tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("workers")]
HANG_AFTER_S = 10
LOCKED = "campaigns_campaign"


@pytest.fixture
def cast(transactional_db: None, settings: Any, tmp_path: Path) -> Iterator[SimpleNamespace]:
    """Return the named cast, in a database that workers see, with empty queues and no signs of others."""
    settings.VAR_DIR = tmp_path
    processes.purge()
    broker.client(timeout_s=5).delete(signs._KEY)
    yield factories.cast()
    processes.purge()
    broker.client(timeout_s=5).delete(signs._KEY)


def waiting_for(table: str) -> set[int]:
    """Return which connections wait for a table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_locks WHERE NOT granted AND relation = %s::regclass", [table])
        return {pid for (pid,) in cursor.fetchall()}


def hangs_told_of() -> set[str]:
    """Return the workers of which /health/ says that a process hangs."""
    part = health.parts()["workers"]
    what, _, names = part.what.partition(": ")
    assert part.since or part.is_ok
    return set(names.split(".")[0].split(", ")) if what == "A process hangs in" else set()


def test_processes_that_hang_are_ended_and_those_that_wait_are_not(
    cast: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANG_AFTER", str(HANG_AFTER_S))
    work = a_report(cast)
    with ExitStack() as stack:
        locks = stack.enter_context(ExitStack())
        locks.enter_context(held(work.table))
        locks.enter_context(held(LOCKED))
        parts = {"worker": 2, "worker-clock": 2, "worker-long": 2}
        workers = {part: stack.enter_context(processes.running(part, tmp_path)) for part in parts}
        processes.seconds_until(
            lambda: all(len(processes.children_of(workers[part])) == parts[part] for part in parts)
        )
        before = {part: processes.children_of(worker) for part, worker in workers.items()}

        def new_in(part: str) -> set[int]:
            return processes.children_of(workers[part]) - before[part]

        # A process of each of the two is at a task that waits for a table, the other has none.
        queue.send(work.task, *work.arguments)
        queue.send(queue.CANCEL_LEFTOVERS)
        queue.send(queue.INDEX)
        processes.seconds_until(lambda: len(waiting_for(LOCKED)) == 2 and bool(waiting_for(work.table)))
        first = waiting_for(LOCKED)
        with held_by_a_tracer([*before["worker"], *before["worker-clock"]]):
            processes.seconds_until(lambda: hangs_told_of() == {"worker", "worker-clock"})
            processes.seconds_until(lambda: all(len(new_in(part)) == 2 for part in ("worker", "worker-clock")))
        # Neither the workers nor one that waited for the database as long had to go.
        assert all(worker.poll() is None for worker in workers.values())
        assert processes.children_of(workers["worker-long"]) == before["worker-long"]
        assert waiting_for(work.table)
        for task in (queue.CANCEL_LEFTOVERS, queue.INDEX):
            queue.send(task)
        processes.seconds_until(lambda: len(waiting_for(LOCKED) - first) == 2)
        processes.seconds_until(lambda: hangs_told_of() == set())

        with held_by_a_tracer([*before["worker-long"]]):
            processes.seconds_until(lambda: hangs_told_of() == {"worker-long"})
            processes.seconds_until(lambda: len(new_in("worker-long")) == 2)
        locks.close()
        # The worker itself goes on, and takes up again what its process was at.
        processes.seconds_until(work.is_done, each=tasks.tend)
        assert workers["worker-long"].poll() is None
