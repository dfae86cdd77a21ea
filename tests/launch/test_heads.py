"""Half a request's head, however slowly it comes, holds a connection for a time; what is under way is left alone."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from launch import heads, listeners, web

ANSWER_S = 1.5
# Of two bytes, than the kernel takes for somebody who does not read.
MORE_THAN_FITS = 5_000_000
ASKED: list[str] = []
FAILURES: list[Exception] = []


UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: bWluZWFhYWFhYWFhYWFhYQ==\r\n"
)


class Quick(heads.HeadsInTime):
    """Waits for a head for half a second."""

    head_s = 0.5


async def slow(scope: Any, receive: Any, send: Any) -> None:
    """Answer at once, or after longer than a head may take."""
    ASKED.append(scope["path"])
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        return
    if scope["path"] == "/slow":
        await asyncio.sleep(ANSWER_S)
    body = b"ok" * (MORE_THAN_FITS if scope["path"] == "/long" else 1)
    try:
        length = str(len(body)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": body})
    except Exception as error:
        FAILURES.append(error)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(
            slow, http=Quick, ws=listeners.ListenerProtocol, lifespan="off", log_level="error", timeout_keep_alive=30
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(10)


def seconds_until_closed(sock: socket.socket, drip: bytes = b"") -> float:
    began = time.monotonic()
    sock.settimeout(0.1)
    while time.monotonic() - began < 10:
        try:
            if drip:
                sock.sendall(drip)
            if not sock.recv(1000):
                return time.monotonic() - began
        except TimeoutError:
            continue
        except ConnectionError:
            return time.monotonic() - began
    raise AssertionError("it was not closed")


@pytest.mark.parametrize("head", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX: "], ids=["nothing", "half"])
@pytest.mark.parametrize("drip", [b"", b"x"], ids=["still", "dripping"])
def test_a_head_that_does_not_come_to_its_end_is_given_up(head: bytes, drip: bytes, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(head)
        assert seconds_until_closed(sock, drip if head else b"") >= 0.4


def test_a_body_that_comes_on_after_its_answer_is_given_up(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        seconds_until_closed(sock, b"1\r\nx\r\n")


def test_nothing_that_was_asked_ahead_is_answered_to_who_hung_up(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as sock:
        ahead = ("/long", "/slow", "/next")
        sock.sendall(b"".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for path in ahead))
        while "/slow" not in ASKED:
            time.sleep(0.01)
    time.sleep(ANSWER_S + 0.5)
    assert "/next" not in ASKED
    assert FAILURES == []


def test_a_websocket_that_comes_behind_requests_closes_the_connection(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        sock.sendall(f"GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /ws HTTP/1.1\r\nHost: x\r\n{UPGRADE}\r\n".encode())
        assert sock.recv(1000) == b""
    time.sleep(ANSWER_S + 0.5)
    assert FAILURES == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("Content-Length: 5", 400),
        ("Content-Length: 00", 400),
        ("Transfer-Encoding: chunked", 400),
        ("Content-Length: 0", 101),
    ],
)
def test_a_websocket_with_a_body_is_refused(body: str, status: int, port: int) -> None:
    """The protocol of WebSockets would never answer it, and read on; some proxies say of each that it has none."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        sock.sendall(f"GET /ws HTTP/1.1\r\nHost: x\r\n{body}\r\n{UPGRADE}\r\n".encode())
        assert sock.recv(1000).startswith(b"HTTP/1.1 %d " % status)


def test_an_answer_that_takes_longer_comes_and_its_connection_is_used_again(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        for path in ("/slow", "/", "/slow"):
            sock.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            text = b""
            while not text.endswith(b"ok"):
                text += sock.recv(1000)
            assert text.startswith(b"HTTP/1.1 200")


def test_the_service_is_served_so(monkeypatch: pytest.MonkeyPatch) -> None:
    configs: list[Any] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: configs.append(self.config))
    web.main([])
    assert configs[0].http is heads.HeadsInTime
    assert configs[0].ws is listeners.ListenerProtocol
    assert 0 < heads.HEAD_S <= 60
