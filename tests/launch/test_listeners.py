"""What viewers of a WebSocket send costs little: nothing is unpacked, and who sends much is cut off."""

import os
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn

from launch import listeners, web

TEXT, BINARY, PING, CLOSE = 0x1, 0x2, 0x9, 0x8
FINAL, PACKED = 0x80, 0x40
LARGE = 8 * 2**20
HEAD = (
    "GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: bWluZW1pbmVtaW5lbWluZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"
    "Cookie: name={cookie}\r\n\r\n"
)
# What the application was given, and when each connection was over for it.
TAKEN: list[int] = []
ENDED = threading.Event()


async def look(scope: Any, receive: Any, send: Any) -> None:
    """Accept a viewer and read on; of /busy before the connection is accepted, which it never is."""
    await receive()
    if scope["path"] != "/busy":
        await send({"type": "websocket.accept"})
    while (message := await receive())["type"] != "websocket.disconnect":
        TAKEN.append(len(message.get("text") or message.get("bytes") or ""))
    ENDED.set()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(web.config_of(look))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def viewer(port: int) -> Iterator[Callable[[str], socket.socket]]:
    """Return what opens a WebSocket of a path."""
    opened = []

    def open_one(path: str, cookie: str = "") -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", port), timeout=10)
        opened.append(sock)
        sock.sendall(HEAD.format(path=path, cookie=cookie).encode())
        if path != "/busy":
            answer = sock.recv(10_000)
            assert answer.startswith(b"HTTP/1.1 101")
            assert b"deflate" not in answer
        return sock

    TAKEN.clear()
    ENDED.clear()
    yield open_one
    for sock in opened:
        sock.close()


def frame(opcode: int, data: bytes, bits: int = FINAL) -> bytes:
    """Return a frame as a client sends it."""
    mask = os.urandom(4)
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xff" + struct.pack(">Q", len(data))
    masked = (
        bytes(byte ^ mask[place % 4] for place, byte in enumerate(data[:100_000])) if len(data) < 100_000 else data
    )
    return bytes([bits | opcode]) + size + mask + masked


def is_cut_off(sock: socket.socket) -> bool:
    """Say whether the server ends a connection, within ten seconds."""
    ends = time.monotonic() + 10
    while time.monotonic() < ends:
        try:
            if not sock.recv(65536):
                return True
        except TimeoutError:
            return False
        except ConnectionError:
            return True
    return False


def packed() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -12)
    text = packer.compress(b"x" * (LARGE // 4)) + packer.flush(zlib.Z_SYNC_FLUSH)
    return frame(BINARY, text[:-4], FINAL | PACKED)


FLOODS = {
    "a packed frame": packed,
    "one large frame": lambda: frame(BINARY, b"x" * LARGE),
    "the head of a large frame": lambda: frame(BINARY, b"x" * LARGE)[:5000],
    "many small frames": lambda: frame(TEXT, b"") * 2000,
    "pieces of one message": lambda: frame(TEXT, b"x", 0) + frame(0, b"x", 0) * 2000,
    "pings": lambda: frame(PING, b"") * 2000,
}


@pytest.mark.parametrize("path", ["/", "/busy"])
@pytest.mark.parametrize("flood", FLOODS)
def test_who_sends_much_is_cut_off(viewer: Callable[[str], socket.socket], flood: str, path: str) -> None:
    sock = viewer(path)
    time.sleep(0.1)
    try:
        sock.sendall(FLOODS[flood]())
    except ConnectionError:
        pass
    assert is_cut_off(sock)
    assert ENDED.wait(10)
    assert sum(TAKEN) <= listeners.MOST_BYTES


def test_a_viewer_who_says_little_stays(viewer: Callable[..., socket.socket]) -> None:
    """Also one whose browser has long cookies: the request is not what they send."""
    sock = viewer("/", "c" * 8000)
    for _turn in range(20):
        sock.sendall(frame(PING, b"here") + frame(TEXT, b"hello"))
        assert sock.recv(6, socket.MSG_WAITALL) == bytes([FINAL | 0xA, 4]) + b"here"
    sock.sendall(frame(CLOSE, struct.pack(">H", 1000)))
    assert is_cut_off(sock)
    assert ENDED.wait(10)
    assert sum(TAKEN) == 100


def test_a_viewer_may_say_as_much_again_later(
    viewer: Callable[[str], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "WINDOW_S", 0.2)
    sock = viewer("/")
    for _turn in range(3):
        sock.sendall(frame(PING, b"x" * 100) * 30)
        assert len(sock.recv(30 * 102, socket.MSG_WAITALL)) == 30 * 102
        time.sleep(0.3)
