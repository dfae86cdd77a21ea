"""Work of which the process was killed, and not the worker: that one takes it up again with another process."""

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
from tests.workers import processes
from tests.workers.works import WORKS, Work, held, waits_for
from workers import tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("workers")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the worker and the tests keep files."""
    return tmp_path_factory.mktemp("killed")


@pytest.fixture(scope="module")
def worker(django_db_setup: None, folder: Path) -> Iterator[Popen[bytes]]:
    """Return the worker that outlives all of its processes."""
    processes.purge()
    with processes.running("worker-long", folder) as running:
        yield running


@pytest.fixture
def cast(transactional_db: None, settings: Any, folder: Path) -> Iterator[Cast]:
    """Return the named cast, in a database that workers see, with empty queues."""
    settings.VAR_DIR = folder
    processes.purge()
    yield factories.cast()
    processes.purge()


@pytest.mark.parametrize("make", WORKS)
def test_it_is_taken_up_again_by_the_same_worker(
    make: Callable[[Cast], Work], cast: Cast, worker: Popen[bytes]
) -> None:
    work = make(cast)
    with held(work.table):
        queue.send(work.task, *work.arguments)
        processes.seconds_until(work.has_begun)
        processes.seconds_until(lambda: not work.table or waits_for(work.table))
        # It is one of them that is at it.
        children = processes.children_of(worker)
        for child in children:
            os.kill(child, signal.SIGKILL)
        processes.seconds_until(lambda: len(processes.children_of(worker) - children) == len(children))
    processes.seconds_until(work.is_done, each=tasks.tend)
    assert worker.poll() is None
