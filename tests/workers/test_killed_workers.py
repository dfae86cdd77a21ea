"""Work whose worker, or process of a worker, was killed with -9 in its midst is taken up again; what lives is not."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from apps.core import queue
from tests import factories
from tests.factories import Cast
from tests.rotation import part_of
from tests.workers import processes
from tests.workers.works import WORKS, Work, held, waits_for
from workers import tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("workers")]
# What the issue asks for (s); tend comes each five.
TAKEN_UP_WITHIN = 15
AtWork = Callable[[], Popen[bytes]]


@pytest.fixture
def cast(transactional_db: None, settings: Any, folder: Path) -> Iterator[Cast]:
    """Return the named cast, in a database that workers see, with empty queues."""
    settings.VAR_DIR = folder
    processes.purge()
    yield factories.cast()
    processes.purge()


def begin(work: Work) -> None:
    """Ask for work, and return when a worker waits in the midst of it."""
    # What waits is asked for once the worker is there; later looks find it held.
    queue.send(work.task, *work.arguments)
    processes.seconds_until(work.has_begun)
    processes.seconds_until(lambda: not work.table or waits_for(work.table))


@pytest.mark.parametrize("make", part_of(WORKS, parts=3))
def test_what_a_process_was_at_is_taken_up_again_by_its_worker(
    make: Callable[[Cast], Work], cast: Cast, at_work: AtWork
) -> None:
    work, worker = make(cast), at_work()
    with held(work.table):
        begin(work)
        # It is one of them that is at it.
        children = processes.children_of(worker)
        for child in children:
            os.kill(child, signal.SIGKILL)
        processes.seconds_until(lambda: len(processes.children_of(worker) - children) == len(children))
    processes.seconds_until(work.is_done, each=tasks.tend)
    assert worker.poll() is None


@pytest.mark.parametrize("make", part_of(WORKS, parts=3))
def test_what_a_worker_was_at_is_taken_up_again_by_another(
    make: Callable[[Cast], Work], cast: Cast, at_work: AtWork
) -> None:
    work, worker = make(cast), at_work()
    with held(work.table):
        begin(work)
        tasks.tend()
        assert processes.waiting_in(queue.LONG) == 0, "it was taken for dead"
        processes.kill(worker)
        assert work.losses() in (1, None)
        took = processes.seconds_until(lambda: processes.waiting_in(queue.LONG) > 0, each=tasks.tend, limit=60)
        assert took < TAKEN_UP_WITHIN
    # It looks after the next test's work, too.
    at_work()
    processes.seconds_until(work.is_done, each=tasks.tend)
