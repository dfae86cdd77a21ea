"""One server process for all tests of a folder that talk to it."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.agents.models import Listener
from tests.agents.live import LiveServer


@pytest.fixture(scope="package")
def server_process(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveServer]:
    server = LiveServer(tmp_path_factory.mktemp("server") / "log")
    yield server
    server.stop()
    # It notes that it listens also after the last test's rows are gone.
    with django_db_blocker.unblock():
        Listener.objects.all().delete()


@pytest.fixture
def server(server_process: LiveServer, transactional_db: None) -> LiveServer:
    """Return the running server; the rows of a test are gone after it."""
    server_process.start()
    return server_process
