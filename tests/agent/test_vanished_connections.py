"""Connections that something on the way forgets without a word: found out in seconds, whoever uses them next."""

import ctypes
import http.server
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.agent.relays import Relay
from workers.agent import remote, transport

VANISHED_AFTER_S = 3
# An answer of a server that is there may take longer than a connection takes to vanish.
SLOW_S = VANISHED_AFTER_S + 2.0
PATIENCE_S = 20.0
_SO_ATTACH_FILTER, _RETURN = 26, 0x06


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


def forget(sock: socket.socket) -> None:
    """Have the kernel drop whatever comes for a socket, so that nothing of it is acknowledged."""
    nothing = _Instruction(_RETURN, 0, 0, 0)
    program = _Program(1, ctypes.pointer(nothing))
    sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, bytes(program))


class Server(http.server.BaseHTTPRequestHandler):
    """Answers, slowly if it is asked to; the first request for “gone” makes its connection vanish."""

    protocol_version = "HTTP/1.1"
    sockets: list[socket.socket] = []
    names: list[str] = []

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        self.names.append(name)
        self.sockets.append(self.connection)
        if name == "slow":
            time.sleep(SLOW_S)
        if name == "gone" and self.names.count(name) == 1:
            forget(self.connection)
            time.sleep(2 * PATIENCE_S)
        self.send_response(200)
        self.send_header("Fathom-Answer", self.headers["Fathom-Request"])
        self.send_header("Content-Length", "12")
        self.end_headers()
        self.wfile.write(b'{"ok": true}')

    def log_message(self, *_args: Any) -> None:
        pass


class Forgetful(Relay):
    """Passes on what is said, until nobody has said anything for a while: then it swallows all, for ever."""

    IDLE_S = 0.5

    def __init__(self, port: int) -> None:
        self._to = port
        super().__init__()

    def attend(self, client: socket.socket) -> None:
        """Join both ends; a connection that is forgotten is never closed."""
        with client, socket.create_connection(("127.0.0.1", self._to)) as server:
            threading.Thread(target=self._pass_on, args=(server, client), daemon=True).start()
            self._pass_on(client, server)

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        spoke_at = time.monotonic()
        while data := source.recv(65536):
            if time.monotonic() - spoke_at > self.IDLE_S:
                continue
            sink.sendall(data)
            spoke_at = time.monotonic()


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(transport, "VANISHED_AFTER_S", VANISHED_AFTER_S)
    monkeypatch.setattr(Server, "sockets", [])
    monkeypatch.setattr(Server, "names", [])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def seconds_to_answer(client: remote.Remote, name: str) -> float:
    """Return how long (s) an answer took."""
    began = time.monotonic()
    assert client.call(name, timeout_s=PATIENCE_S) == {"ok": True}
    return time.monotonic() - began


def test_an_idle_connection_is_not_trusted(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert remote.MOST_IDLE_S <= 20
    monkeypatch.setattr(remote, "MOST_IDLE_S", Forgetful.IDLE_S / 2)
    relay = Forgetful(port)
    client = remote.Remote(f"http://127.0.0.1:{relay.port}")
    seconds_to_answer(client, "fine")
    time.sleep(2 * Forgetful.IDLE_S)
    assert seconds_to_answer(client, "fine") < 1.0
    client.close()
    relay.close()


@pytest.mark.parametrize("name", ["fine", "gone"])
def test_a_connection_that_vanishes_is_opened_anew(port: int, name: str) -> None:
    client = remote.Remote(f"http://127.0.0.1:{port}")
    seconds_to_answer(client, "fine")
    if name == "fine":
        # It is gone before the request; the other takes its request with it.
        for sock in Server.sockets:
            forget(sock)
    assert seconds_to_answer(client, name) < 3 * VANISHED_AFTER_S
    client.close()


def test_a_slow_answer_is_waited_for(port: int) -> None:
    client = remote.Remote(f"http://127.0.0.1:{port}")
    assert seconds_to_answer(client, "slow") > VANISHED_AFTER_S
    assert seconds_to_answer(client, "slow") > VANISHED_AFTER_S
    assert Server.names == ["slow", "slow"]
    client.close()


def test_what_vanishes_is_found_out_in_seconds() -> None:
    assert transport.VANISHED_AFTER_S <= 15
    assert remote.MOST_TO_CONNECT_S <= 15


def test_whoever_does_not_take_a_connection_is_not_waited_for_like_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MOST_TO_CONNECT_S", 0.5)
    with socket.socket() as listener:
        # Its queue is full: it takes nobody, and turns nobody away.
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        with socket.create_connection(address), socket.socket() as other:
            other.setblocking(False)
            other.connect_ex(address)
            client = remote.Remote(f"http://127.0.0.1:{address[1]}")
            began = time.monotonic()
            with pytest.raises(remote.Away, match="timed out"):
                client.call("fine", timeout_s=5.0)
            assert time.monotonic() - began < 3.0
