"""A supervisor of processes, and the one whole service that tests share: to start one takes many seconds."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from launch import liveness
from launch.process import Process
from launch.supervisor import Supervisor
from tests import factories
from tests.launch import askers, own_web, stack
from tests.launch import migrated as patterns
from tests.launch.kept import kept, no_database_of_the_tests, var  # noqa: F401

HANG_AFTER_S = 10
NAME = "fathom.example.org"
Make = Callable[..., Supervisor]
# The kernel counts in hundredths of a second: what a machine gives within a second to one of a hundred.
_LITTLE_S = 0.005


@pytest.fixture(scope="package")
def running(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[stack.Stack]:
    """Give a service in a long path with a space, which has two addresses and a name, and notices halts soon.

    It ends with the tests of this folder: up to the end of the run it would take a tenth of a processor.
    """
    folder = tmp_path_factory.mktemp("a service") / ("long" * 25)
    patterns.copy_to(folder, migrated / patterns.VAR)
    names = {"BIND": "127.0.1.1", "ALLOWED_HOSTS": NAME}
    with stack.running(folder, HANG_AFTER=str(HANG_AFTER_S), **names) as started:
        yield started


@dataclass(frozen=True)
class Served:
    """A web process, its PostgreSQL, and requests of those who are in that, to be asked and to be sent."""

    web: own_web.OwnWeb
    postgres: own_web.OwnPostgres
    kinds: dict[str, askers.Kind]
    requests: dict[str, bytes]
    # Of as many people as there are connections.
    pages: list[bytes]


@pytest.fixture(scope="package")
def served(django_db_setup: None, django_db_blocker: Any) -> Iterator[Served]:
    """Give a web process to those who look after its connections; nothing of who asks it stays elsewhere."""
    with ExitStack() as ends:
        with django_db_blocker.unblock():
            try:
                cast = factories.cast()
                kinds, requests = askers.kinds_of_requests(cast), askers.bytes_of_requests(cast)
                pages = askers.page_requests(settings.WEB_CONNECTIONS)
                web, postgres = ends.enter_context(own_web.running())
            finally:
                call_command("flush", interactive=False, verbosity=0)
                connection.close()
        yield Served(web, postgres, kinds, requests, pages)


@pytest.fixture
def little_is_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a hundredth of a second of the processor be effort, and look for it often."""
    monkeypatch.setattr(liveness, "_EFFORT_S", _LITTLE_S)
    monkeypatch.setattr(liveness, "_EFFORTS_EVERY_S", 0.2)


@pytest.fixture
def events() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def make(tmp_path: Path, events: list[tuple[str, str]]) -> Iterator[Make]:
    made: list[Supervisor] = []

    def _make(*processes: Process, **options: object) -> Supervisor:
        options = {"delays_s": (0.05, 0.2), **options}
        supervisor = Supervisor(logs=tmp_path / "log", report=lambda *event: events.append(event), **options)  # type: ignore[arg-type]
        for process in processes:
            supervisor.add(process)
        made.append(supervisor)
        return supervisor

    yield _make
    for supervisor in made:
        supervisor.stop()
