"""One server process for all tests that talk to it."""

from collections.abc import Iterator

import pytest

from tests.agents.live import LiveServer


@pytest.fixture(scope="session")
def server_process(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    server = LiveServer(tmp_path_factory.mktemp("server") / "log")
    yield server
    server.stop()


@pytest.fixture
def server(server_process: LiveServer, transactional_db: None) -> LiveServer:
    """Return the running server; the rows of a test are gone after it."""
    server_process.start()
    return server_process
