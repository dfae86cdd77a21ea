"""What an agent reads of an answer is bounded in size, in time and in what it becomes, whoever answers."""

import contextlib
import itertools
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from workers.agent import answers, remote
from workers.agent.remote import Away

MIB = 2**20
OK = b"HTTP/1.1 200 OK\r\nFathom-Answer: NAME\r\n"
STRANGE = b"HTTP/1.1 200 OK\r\nServer: other\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
# How each answer begins, and what follows without an end.
ENDLESS = {
    "body": (OK + b"\r\n", b"x" * MIB),
    "announced": (OK + b"Content-Length: 3000000000000\r\n\r\n", b"x" * MIB),
    "chunks": (OK + CHUNKED, b"10000\r\n" + b"x" * 2**16 + b"\r\n"),
    "one chunk": (OK + CHUNKED + b"ffffffffff\r\n", b"x" * MIB),
    "extensions of chunks": (OK + CHUNKED, b"1;" + b"x" * 60_000 + b"\r\nx\r\n"),
    "trailers": (OK + CHUNKED + b"0\r\n", b"X: " + b"x" * 60_000 + b"\r\n"),
    "stranger": (STRANGE + b"\r\n", b"x" * MIB),
    "stranger in chunks": (STRANGE + CHUNKED, b"10000\r\n" + b"x" * 2**16 + b"\r\n"),
    "stranger's one chunk": (STRANGE + CHUNKED + b"ffffffffff\r\n", b"x" * MIB),
    "headers": (OK, b"X: " + b"x" * 60_000 + b"\r\n"),
    "one header": (OK, b"x" * MIB),
    "status": (b"", b"x" * MIB),
    "preludes": (b"", b"HTTP/1.1 100 Continue\r\nX: " + b"x" * 60_000 + b"\r\n\r\n"),
}  # fmt: skip


class Source:
    """Answers every request with `begin` and then `rest`, as long as anybody takes it, at the pace of `wait_s`."""

    def __init__(self, begin: bytes, rest: Iterator[bytes], wait_s: float = 0.0) -> None:
        self._begin, self._rest, self._wait_s = begin, rest, wait_s
        self.sent = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Answer nobody any more."""
        self._socket.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _address = self._socket.accept()
                with client, contextlib.suppress(OSError):
                    self._answer(client)

    def _answer(self, client: socket.socket) -> None:
        request = b""
        while b"\r\n\r\n" not in request:
            request += client.recv(65536)
        name = request.partition(b"Fathom-Request: ")[2].partition(b"\r\n")[0]
        for piece in itertools.chain([self._begin.replace(b"NAME", name)], self._rest):
            client.sendall(piece)
            self.sent += len(piece)
            time.sleep(self._wait_s)


def ask(source: Source, path: str = "poll", timeout_s: float = 20.0) -> dict[str, object]:
    """Return what an agent makes of a source's answer."""
    client = remote.Remote(source.url)
    try:
        return client.call(path, timeout_s=timeout_s)
    finally:
        client.close()
        source.close()


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("path", ["poll", "clock"])
def test_an_answer_without_an_end_is_left(name: str, path: str) -> None:
    begin, more = ENDLESS[name]
    source = Source(begin, itertools.repeat(more))
    began = time.monotonic()
    tracemalloc.start()
    try:
        with pytest.raises(Away):
            ask(source, path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (60 if path == "poll" else 12) * MIB
    assert source.sent < 40 * MIB
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("begin", [OK, OK + b"\r\n", STRANGE + b"\r\n", b"", OK + CHUNKED])
def test_an_answer_that_trickles_is_left(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MORE_S", 0.5)
    source = Source(begin, itertools.repeat(b"x"), 0.05)
    began = time.monotonic()
    with pytest.raises(Away, match="timed out"):
        ask(source, timeout_s=0.5)
    assert time.monotonic() - began < 5


GROWING = [
    b'{"x":' + b"[" * 100_000,
    b'{"x":[' + b"{}," * 5_000_000 + b"{}]}",
    b'{"x":' + b"[],".join([b"["] * 2_000_000),
]


@pytest.mark.parametrize("body", GROWING, ids=["deep", "wide", "both"])
def test_an_answer_that_grows_in_memory_is_none(body: bytes) -> None:
    source = Source(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body, iter(()))
    tracemalloc.start()
    try:
        with pytest.raises(Away):
            ask(source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * MIB


def test_a_long_number_costs_nothing_and_is_not_finite() -> None:
    began = time.monotonic()
    assert answers.parse(b'{"x": ' + b"9" * 8_000_000 + b"}") == {"x": float("inf")}
    assert answers.parse(b'{"x": 12345678901234567890}') == {"x": 12345678901234567890}
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("in_chunks", [False, True])
def test_a_long_answer_of_the_servers_arrives_whole(in_chunks: bool) -> None:
    body = b'{"jobs": ["' + b"x" * (answers.MOST_OF_POLL - 20) + b'"]}'
    if in_chunks:
        pieces = [body[place : place + 40_000] for place in range(0, len(body), 40_000)]
        begin = OK + CHUNKED + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])
    else:
        begin = OK + b"Content-Length: %d\r\n\r\n" % len(body) + body
    reply: Any = ask(Source(begin, iter(())))
    (text,) = reply["jobs"]
    assert len(text) == answers.MOST_OF_POLL - 20


def test_an_answer_that_breaks_off_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Away, match="IncompleteRead"):
        ask(Source(OK + b'Content-Length: 1000\r\n\r\n{"x": 1}', iter(())))
