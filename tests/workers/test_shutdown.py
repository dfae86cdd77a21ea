"""A worker that is to stop leaves what it is at within seconds; nothing of it is lost, or counted as its fault."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from apps.core import queue, shutdown
from apps.core.models import SetAside
from launch.process import Process
from tests import factories
from tests.factories import Cast
from tests.rotation import part_of
from tests.workers import processes
from tests.workers.works import WORKS, Work, a_reading, an_analysis, held, waits_for
from workers import tasks
from workers.celery import app

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("workers")]


@pytest.fixture
def worker(at_work: Callable[[], Popen[bytes]]) -> Popen[bytes]:
    """Return a worker that looks after long work."""
    return at_work()


@pytest.fixture
def cast(transactional_db: None, settings: Any, folder: Path) -> Iterator[Cast]:
    """Return the named cast, in a database that workers see, with empty queues."""
    settings.VAR_DIR = folder
    processes.purge()
    yield factories.cast()
    processes.purge()


def again(work: Work) -> None:
    """Ask for what is left, as looks of the timetable do."""
    tasks.tend()
    if not processes.waiting_in(queue.LONG):
        app.send_task(work.task, args=work.arguments, queue=queue.LONG)


def begin(work: Work) -> None:
    """Have a worker begin with what waits, and come to where it waits itself."""
    # Also what another one looks after.
    app.send_task(work.task, args=work.arguments, queue=queue.LONG)
    processes.seconds_until(work.has_begun)
    processes.seconds_until(lambda: not work.table or waits_for(work.table))


@pytest.mark.parametrize("make", part_of([*WORKS, a_reading, an_analysis]))
def test_a_process_leaves_its_task_as_if_it_had_not_begun(
    make: Callable[[Cast], Work], cast: Cast, worker: Popen[bytes]
) -> None:
    work = make(cast)
    with held(work.table):
        begin(work)
        children = processes.children_of(worker)
        for child in children:
            os.kill(child, shutdown.SIGNAL)
        processes.seconds_until(lambda: work.losses() in (0, None) and not (work.table and waits_for(work.table)))
    assert not SetAside.objects.exists()
    processes.seconds_until(work.is_done, each=lambda: again(work))
    assert processes.children_of(worker) == children


def test_a_worker_that_is_stopped_ends_before_it_would_be_killed(cast: Cast, worker: Popen[bytes]) -> None:
    work = a_reading(cast)
    with held(work.table):
        begin(work)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(Process("worker-long", ()).stop_timeout_s / 2) == 0
        assert work.losses() == 0
    assert not SetAside.objects.exists()


def test_it_is_raised_anywhere_but_where_it_is_put_off() -> None:
    def ask() -> None:
        os.kill(os.getpid(), shutdown.SIGNAL)
        # The handler runs before the next line of this thread.
        time.sleep(0)

    noted = []
    with pytest.raises(shutdown.ShuttingDown), shutdown.heard():
        with shutdown.put_off(), shutdown.put_off():
            ask()
            noted.append("done")
        noted.append("not reached")
    assert noted == ["done"]
    with pytest.raises(shutdown.ShuttingDown), shutdown.heard():
        ask()
    before = signal.getsignal(shutdown.SIGNAL)
    shutdown.ignore()
    try:
        ask()
        with shutdown.put_off():
            pass
    finally:
        signal.signal(shutdown.SIGNAL, before)
