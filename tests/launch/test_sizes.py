"""What comes before anybody knows what it is stays small: heads, what follows bodies, and what is asked ahead."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from launch import sizes, web

REQUEST = b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
LARGE = 20 * 2**20
ASKED: list[str] = []
# Of all headers that came with requests.
NAMES: set[bytes] = set()


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Read all that is sent and answer; /slow takes a while."""
    ASKED.append(scope["path"])
    while (await receive()).get("more_body"):
        pass
    NAMES.update(name for name, _value in scope["headers"])
    if scope["path"] == "/slow":
        await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(web.config_of(answer))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(10)


def exchange(port: int, begin: bytes, piece: bytes = b"", most: int = LARGE, answers: int = 1) -> tuple[bytes, int]:
    """Send a beginning, then a piece until the connection ends; return what came back and how much was sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        text, sent = b"", len(begin)
        try:
            sock.sendall(begin)
            while piece and sent < most:
                sock.sendall(piece)
                sent += len(piece)
        except ConnectionError:
            pass
        try:
            while text.count(b"HTTP/1.1 ") < answers or not text.endswith((b"\r\n\r\n", b"ok")):
                if not (came := sock.recv(65536)):
                    break
                text += came
        except ConnectionError:
            pass
        return text, sent


# What each connection sends at most before it is cut off: what lies in buffers of both sides comes on top.
FLOODS = {
    "many headers": (b"GET / HTTP/1.1\r\n", b"a:b\r\n" * 10_000),
    "a long header": (b"GET / HTTP/1.1\r\nx: ", b"a" * 65536),
    "a long name": (b"GET / HTTP/1.1\r\n", b"a" * 65536),
    "a long address": (b"GET /", b"a" * 65536),
    "what follows a body": (CHUNKED + b"1\r\nx\r\n0\r\n", b"a:b\r\n" * 10_000),
    "a long end of a body": (CHUNKED + b"1\r\nx\r\n0\r\nx: ", b"a" * 65536),
    "a long word beside a piece": (CHUNKED + b"1;x=", b"a" * 65536),
    "slow requests ahead": (REQUEST % b"slow", REQUEST % b"" * 2000),
}


@pytest.mark.parametrize("flood", FLOODS)
def test_what_never_ends_is_cut_off(port: int, flood: str) -> None:
    text, sent = exchange(port, *FLOODS[flood])
    assert sent < LARGE
    assert b" 200 " not in text
    assert text[:13] in (b"", b"HTTP/1.1 431 ")


def test_what_is_asked_ahead_in_one_reading_is_bounded(port: int) -> None:
    """Some may be answered; that the rest is parsed and kept costs the whole service."""
    ASKED.clear()
    exchange(port, REQUEST % b"slow" + REQUEST % b"next" * 5000, answers=5001)
    time.sleep(1)
    assert len(ASKED) <= 1 + sizes.MOST_AHEAD


def test_what_a_client_may_ask_ahead_is_answered(port: int) -> None:
    asked = 1 + sizes.MOST_AHEAD
    text, _sent = exchange(port, REQUEST % b"" * asked, answers=asked)
    assert text.count(b"HTTP/1.1 200 ") == asked


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n" % (b"a" * 60_000), b"200"),
        (b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n" % (b"a" * 66_000), b"431"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nCookie: %b\r\n\r\n" % (b"a" * 60_000), b"200"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nCookie: %b\r\n\r\n" % (b"a" * 66_000), b"431"),
        (b"GET / HTTP/1.1\r\n%b\r\n" % (b"a:b\r\n" * sizes.MOST_HEADERS), b"200"),
        (b"GET / HTTP/1.1\r\n%b\r\n" % (b"a:b\r\n" * (sizes.MOST_HEADERS + 1)), b"431"),
        (b"no request at all\r\n\r\n", b"400"),
    ],
)
def test_a_whole_head_is_taken_up_to_its_bound(port: int, head: bytes, status: bytes) -> None:
    text, _sent = exchange(port, head)
    assert text.split()[1] == status


def test_a_body_in_pieces_is_no_head(port: int) -> None:
    pieces = (b"%x\r\n" % 5000 + b"x" * 5000 + b"\r\n") * 200
    text, _sent = exchange(port, CHUNKED + pieces + b"0\r\nafter: wards\r\n\r\n")
    assert b" 200 " in text
    assert {b"host", b"transfer-encoding"} <= NAMES
    # Who stands in front strips what a client must not say of the head only.
    assert b"after" not in NAMES


def test_a_request_that_is_none_ends_what_is_being_answered(port: int) -> None:
    """An answer of 400 would be read as a part of the one that is under way."""
    text, _sent = exchange(port, REQUEST % b"slow" + b"nonsense\r\n\r\n")
    assert text == b""
