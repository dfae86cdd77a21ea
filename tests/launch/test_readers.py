"""Connections come back: of who takes no answer, and of an address that has more than its share."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn

from apps.core import downloads
from launch import heads, places, readers

# More than what kernels keep for a reader.
LARGE = 32 * 1024 * 1024


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Answer much: at once, or piece by piece."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass
        return
    size = 2 if scope["path"] == "/" else LARGE
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]})
    pieces = 64 if scope["path"] == "/pieces" else 1
    for number in range(pieces):
        await send({"type": "http.response.body", "body": b"x" * (size // pieces), "more_body": number < pieces - 1})


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[places.Places], int]]:
    """Serve with so many places; return the port."""
    monkeypatch.setattr(readers, "STALL_S", 0.6)
    monkeypatch.setattr(readers, "LOOK_S", 0.1)
    servers = []

    def begin(some: places.Places) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        protocol = type("Few", (heads.HeadsInTime,), {"places": some, "head_s": 30.0})
        config = uvicorn.Config(answer, http=protocol, lifespan="off", log_level="error", timeout_keep_alive=30)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        servers.append((server, thread))
        return int(listener.getsockname()[1])

    yield begin
    for server, thread in servers:
        server.should_exit = True
        thread.join(10)


def ask(port: int, path: str, source: str = "127.0.0.1") -> socket.socket:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(10)
    sock.bind((source, 0))
    sock.connect(("127.0.0.1", port))
    sock.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return sock


def wait_until(holds: Callable[[], bool], within_s: float = 8.0) -> bool:
    end = time.monotonic() + within_s
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def status_of(sock: socket.socket) -> int:
    """Return the status of an answer, 0 for a connection that was closed without one."""
    try:
        return int(sock.recv(12)[9:12] or 0)
    except ConnectionError:
        return 0


def is_ended(sock: socket.socket) -> bool:
    """Take the rest of what comes; the test fails with TimeoutError if it does not end."""
    with contextlib.suppress(ConnectionError):
        while sock.recv(1000):
            pass
    return True


@pytest.mark.parametrize("path", ["/whole", "/pieces"])
def test_a_connection_of_who_takes_nothing_comes_back(path: str, serve: Any) -> None:
    some = places.Places(10)
    with ask(serve(some), path):
        assert wait_until(lambda: some.taken == 1)
        time.sleep(0.3)
        assert some.taken == 1
        assert wait_until(lambda: some.taken == 0)


@pytest.mark.parametrize("path", ["/whole", "/pieces"])
def test_who_takes_it_steadily_gets_all_of_it(path: str, serve: Any) -> None:
    some, came = places.Places(10), 0
    with ask(serve(some), path) as sock:
        while came < LARGE:
            came += len(sock.recv(4 * 1024 * 1024))
            time.sleep(0.0002)
        # And may ask again.
        assert some.taken == 1


def test_an_address_has_so_many_and_others_are_taken_in(serve: Any) -> None:
    some = places.Places(10, of_address=2)
    port = serve(some)
    own = [ask(port, "/") for _number in range(3)]
    assert [status_of(sock) for sock in own] == [200, 200, 503]
    other = ask(port, "/", "127.0.0.2")
    assert status_of(other) == 200
    own[0].close()
    assert wait_until(lambda: some.taken == 2)
    again = ask(port, "/")
    assert status_of(again) == 200
    for sock in (*own, other, again):
        sock.close()
    assert wait_until(lambda: some.taken == 0)


def test_where_all_are_taken_the_address_that_has_most_gives_way(serve: Any) -> None:
    some = places.Places(4)
    port = serve(some)
    many = [ask(port, "/", "127.0.0.2") for _number in range(4)]
    assert [status_of(sock) for sock in many] == [200] * 4
    for number in (0, 1):
        with_one = ask(port, "/", "127.0.0.3")
        assert status_of(with_one) == 200
        many.append(with_one)
        # The newest of it.
        assert is_ended(many[3 - number])
    # With two each nobody has too much.
    last = ask(port, "/", "127.0.0.3")
    assert status_of(last) == 503
    for sock in (*many, last):
        sock.close()
    assert wait_until(lambda: some.taken == 0)


def test_proxies_speak_for_many(serve: Any) -> None:
    some = places.Places(3, of_address=1, proxies=["127.0.0.0/8"])
    port = serve(some)
    own = [ask(port, "/") for _number in range(4)]
    assert [status_of(sock) for sock in own] == [200, 200, 200, 503]
    for sock in own:
        sock.close()


def test_a_web_socket_has_its_place_until_it_ends(serve: Any) -> None:
    from websockets.sync.client import connect

    some = places.Places(10, of_address=2)
    port = serve(some)
    with connect(f"ws://127.0.0.1:{port}/"):
        assert some.taken == 1
    assert wait_until(lambda: some.taken == 0)


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [("2001:db8::1", "2001:db8::2", True), ("::ffff:10.0.0.1", "10.0.0.1", True), ("10.0.0.1", "10.0.0.2", False)],
)
def test_what_counts_as_one_address(first: str, second: str, is_one: bool) -> None:
    some = places.Places(10, of_address=1)
    assert some.take(1, first, lambda: None)
    assert some.take(2, second, lambda: None) is not is_one


def test_they_have_the_pace_of_downloads() -> None:
    numbers = ("STALL_S", "GRACE_S", "LEAST_RATE")
    assert [getattr(readers, name) for name in numbers] == [getattr(downloads, name) for name in numbers]


def test_a_reader_has_the_time_of_what_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("launch.readers.time.monotonic", lambda: clock[0])

    class Waiting:
        """A transport with so much to be taken."""

        size = 100 * 1024 * 1024

        def get_write_buffer_size(self) -> int:
            return self.size

    def seconds_at(rate: int) -> float:
        given_up: list[bool] = []
        loop = asyncio.new_event_loop()
        transport = Waiting()
        reader = readers.Reader(loop, transport, lambda: given_up.append(True))
        clock[0] = 0.0
        reader.begin_answer()
        while not given_up and transport.size > 0:
            reader.look()
            clock[0] += 1.0
            transport.size = max(0, transport.size - rate)
        reader.forget()
        loop.close()
        return clock[0] if given_up else 0.0

    assert seconds_at(readers.LEAST_RATE) == 0.0
    assert readers.GRACE_S < seconds_at(readers.LEAST_RATE // 2) <= 2 * readers.GRACE_S + 5
    assert seconds_at(0) <= readers.STALL_S + 2
