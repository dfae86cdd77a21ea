"""What a server takes over its sockets, for each kind of address, announced and in pieces: no more than its limit."""

import contextlib
import http.client
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.agents.endpoint import exchange
from apps.agents.endpoint.room import Problem
from apps.core.bodies import BodyKind, most_bytes
from tests import factories as people
from tests.agents import factories
from tests.agents.live import LiveServer
from tests.factories import Cast

pytestmark = pytest.mark.django_db(transaction=True)
MIB = 1024 * 1024
FILES_MOST = 70 * MIB
PIECE = 256 * 1024
# What lies in buffers of sockets and of the server when the answer comes; on a busy machine over 16 MiB did.
SLACK = 24 * MIB
ADDRESSES = {
    BodyKind.NOTHING: "/health/",
    BodyKind.ANONYMOUS: "/imports/new/",
    BodyKind.FORM: "/api/v1/campaigns/",
    BodyKind.FILES: "/imports/new/",
    BodyKind.GREETING: "/agent/v1/enrol",
    BodyKind.NEWS: "/agent/v1/facts",
    BodyKind.QUESTION: "/agent/v1/poll",
    BodyKind.REPORT: "/agent/v1/jobs/{job}/events",
}


@pytest.fixture(scope="module")
def process(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("bodies")
    one = LiveServer(folder / "log", UPLOAD_MOST=str(FILES_MOST), FATHOM_VAR=str(folder / "var"))
    yield one
    one.stop()


@pytest.fixture
def bodies_server(process: LiveServer, transactional_db: None) -> LiveServer:
    process.start()
    return process


class Sent:
    """A request whose body is sent by the piece, until it is answered."""

    def __init__(self, server: LiveServer, path: str, **headers: str) -> None:
        self.socket = socket.create_connection((server.host, server.port), timeout=20)
        lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {text}" for name, text in headers.items())]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.bytes = 0

    def send(self, most: int, *, is_chunked: bool) -> None:
        """Send until something comes back, or `most` bytes are sent."""
        piece = b"%x\r\n" % PIECE + b"x" * PIECE + b"\r\n" if is_chunked else b"x" * PIECE
        with contextlib.suppress(OSError):
            while self.bytes < most and not self.is_answered():
                self.socket.sendall(piece)
                self.bytes += PIECE

    def is_answered(self, timeout_s: float = 0.0) -> bool:
        """Return whether an answer begins to come."""
        self.socket.settimeout(timeout_s)
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except (BlockingIOError, TimeoutError):
            return False
        finally:
            self.socket.settimeout(20)

    def answer(self) -> http.client.HTTPResponse:
        """Return the answer, with its head read."""
        response = http.client.HTTPResponse(self.socket)
        response.begin()
        return response


def headers_of(kind: BodyKind, cast: Cast) -> tuple[str, dict[str, str]]:
    """Return address and head of a request of a kind."""
    path = ADDRESSES[kind]
    if kind in (BodyKind.NEWS, BodyKind.QUESTION, BodyKind.REPORT):
        agent, token = factories.agent()
        job = factories.job(agent.node) if kind is BodyKind.REPORT else None
        return path.format(job=job.pk if job else ""), {"Authorization": f"Bearer {token}"}
    if kind is BodyKind.FORM:
        return path, {"Authorization": people.bearer(cast.oscar)["HTTP_AUTHORIZATION"]}
    if kind is BodyKind.FILES:
        client = Client()
        client.force_login(cast.oscar)
        return path, {"Cookie": "; ".join(f"{name}={item.value}" for name, item in client.cookies.items())}
    return path, {}


def limit_of(kind: BodyKind) -> int:
    return FILES_MOST if kind is BodyKind.FILES else most_bytes(kind)


@pytest.mark.parametrize("kind", BodyKind, ids=lambda kind: kind.name)
@pytest.mark.parametrize("is_chunked", [False, True], ids=["announced", "chunked"])
def test_a_body_over_its_limit_is_refused_before_its_end(
    kind: BodyKind, is_chunked: bool, bodies_server: LiveServer, cast: Cast
) -> None:
    path, headers = headers_of(kind, cast)
    most = limit_of(kind)
    if is_chunked:
        sent = Sent(bodies_server, path, **headers, **{"Transfer-Encoding": "chunked"})
        sent.send(most + 2 * SLACK, is_chunked=True)
        assert sent.bytes <= most + SLACK
    else:
        # Not a byte of it is waited for.
        sent = Sent(bodies_server, path, **headers, **{"Content-Length": str(most + 1)})
    answer = sent.answer()
    assert (answer.status, answer.getheader("connection")) == (413, "close")
    assert answer.read()
    # The rest is dropped for a moment, then the connection ends.
    sent.socket.settimeout(20)
    with contextlib.suppress(ConnectionError):
        assert sent.socket.recv(1) == b""


@pytest.mark.parametrize("kind", BodyKind, ids=lambda kind: kind.name)
def test_a_body_within_its_limit_is_not_too_large(kind: BodyKind, bodies_server: LiveServer, cast: Cast) -> None:
    path, headers = headers_of(kind, cast)
    size = min(limit_of(kind), 3 * MIB)
    sent = Sent(bodies_server, path, **headers, **{"Content-Length": str(size)})
    sent.socket.sendall(b"x" * size)
    assert sent.answer().status not in (413, 500, 507)


def test_a_report_on_no_job_is_refused_before_it_is_read(bodies_server: LiveServer) -> None:
    _agent, token = factories.agent()
    path = f"/agent/v1/jobs/{uuid.uuid4()}/events"
    sent = Sent(bodies_server, path, Authorization=f"Bearer {token}", **{"Content-Length": str(64 * MIB)})
    assert sent.answer().status == 404


def test_an_agent_holds_so_much_of_reports_and_is_told_to_come_again_with_more(
    bodies_server: LiveServer,
) -> None:
    agent, token = factories.agent()
    path = f"/agent/v1/jobs/{factories.job(agent.node).pk}/events"
    head: dict[str, Any] = {"Authorization": f"Bearer {token}", "Content-Length": str(64 * MIB)}
    held = [Sent(bodies_server, path, **head) for _number in range(2)]
    for one in held:
        one.socket.sendall(b"x" * (64 * MIB - PIECE))
        assert not one.is_answered(0.5)
    # What is announced takes nothing, what comes does.
    third = Sent(bodies_server, path, **head)
    assert not third.is_answered(0.3)
    with contextlib.suppress(ConnectionError):
        third.socket.sendall(b"x" * MIB)
    answer = third.answer()
    assert (answer.status, answer.getheader("retry-after")) == (503, "5")
    assert b'"unavailable"' in answer.read()
    # It still asks for work, and sends again once the others are gone.
    news = Sent(bodies_server, "/agent/v1/facts", Authorization=f"Bearer {token}", **{"Content-Length": "2"})
    news.socket.sendall(b"{}")
    assert news.answer().status == 400
    for one in held:
        one.socket.close()
    for _attempt in range(20):
        again = Sent(bodies_server, path, **head)
        again.socket.sendall(b"x" * MIB)
        if not again.is_answered(0.3):
            return
    raise AssertionError("the room did not come back")


def test_nothing_is_left_of_what_was_refused(process: LiveServer) -> None:
    left = [path for path in (Path(process.environment["FATHOM_VAR"]) / "tmp").rglob("*") if path.is_file()]
    assert [path.name for path in left if path.name != "lock"] == []


def test_many_values_of_an_agent_are_refused_before_they_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("json.loads", lambda *values, **more: pytest.fail("it was built"))
    for body in (b'{"facts": [' + b"{}," * 200_000 + b"{}]}", b'{"facts": ' + b"[" * 900):
        with pytest.raises(Problem) as refused:
            exchange.read_json(body)
        assert refused.value.status == 400
