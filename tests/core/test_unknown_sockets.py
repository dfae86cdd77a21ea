"""WebSockets to addresses that are none, or to a host that is not ours: refused, without an error in the log."""

import socket
from collections.abc import Iterator

import pytest

from tests.agents.live import LiveServer
from tests.launch.watching import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def process(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    one = LiveServer(
        tmp_path_factory.mktemp("sockets") / "log",
        DJANGO_SETTINGS_MODULE="apps.config.settings.production",
        SECRET_KEY="x" * 50,
        ALLOWED_HOSTS="fathom.example.org",
    )
    one.start()
    yield one
    one.stop()


def opened(server: LiveServer, path: str, host: str) -> int:
    """Return the status with which the opening of a WebSocket is answered."""
    with socket.create_connection((server.host, server.port), timeout=20) as sock:
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {host}",
            f"Origin: http://{host}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        sock.sendall("\r\n".join([*lines, "", ""]).encode())
        with sock.makefile("rb") as answer:
            return int(answer.readline().split()[1])


def assert_no_error(server: LiveServer, before: int) -> None:
    """Whoever asks writes nothing into the log that would push out what was written before."""
    # The answer comes first.
    assert not wait_for(lambda: "without completing" in server.log.read_text()[before:], 0.5)
    assert not any(word in server.log.read_text()[before:] for word in ("Traceback", "ERROR"))


@pytest.mark.parametrize("path", ["/ws/nothing/", "/", "/ws/campaigns/x/", "/ws/campaigns/7", "/%ff/", "//"])
@pytest.mark.parametrize("host", ["fathom.example.org", "elsewhere.example.org", "bad host_/"])
def test_an_unknown_websocket_is_refused_without_an_error(
    path: str, host: str, process: LiveServer, db: None
) -> None:
    before = len(process.log.read_text())
    assert opened(process, path, host) == 403
    assert_no_error(process, before)


def test_one_of_ours_at_another_host_is_refused_and_at_ours_needs_a_sign_in(process: LiveServer, db: None) -> None:
    before = len(process.log.read_text())
    assert opened(process, "/ws/campaigns/7/", "elsewhere.example.org") == 403
    assert opened(process, "/ws/campaigns/7/", "fathom.example.org") == 403
    assert_no_error(process, before)
