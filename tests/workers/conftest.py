"""What most tests of workers begin with."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen

import pytest

from apps.testbeds.models import Node
from tests.workers import factories as workers
from tests.workers import processes
from workers import even_time


@pytest.fixture(autouse=True)
def _clock_known_to_be_even(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the clock for even from the start, unless a test sets it: this process may have begun a moment ago."""
    if "server" not in request.fixturenames:
        monkeypatch.setattr(even_time, "A_MOMENT_S", 0.0)


@pytest.fixture
def pair(pair: list[Node]) -> list[Node]:
    """Return the two nodes, whose agents were heard of just now."""
    workers.enrol(*pair)
    return pair


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a worker and the tests of a module keep files."""
    return tmp_path_factory.mktemp("worker")


@pytest.fixture(scope="module")
def at_work(django_db_setup: None, folder: Path) -> Iterator[Callable[[], Popen[bytes]]]:
    """Return what gives the worker of these tests, which looks after long work; another one if that has ended."""
    started: list[Popen[bytes]] = []
    with ExitStack() as ends:

        def worker() -> Popen[bytes]:
            if not started or started[-1].poll() is not None:
                started.append(ends.enter_context(processes.running("worker-long", folder)))
            return started[-1]

        processes.purge()
        yield worker
