"""The agent's connection to a server, and to what may stand in its place."""

import http.server
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from workers.agent import remote


class Odd(http.server.BaseHTTPRequestHandler):
    """Answers as proxies and broken servers do; the path says how."""

    protocol_version = "HTTP/1.1"
    requests = 0

    def do_GET(self) -> None:
        type(self).requests += 1
        name = self.path.rpartition("/")[2]
        if name == "slow":
            time.sleep(1)
        status, body = {
            "html": (502, b"<html>"),
            "list": (200, b"[]"),
            "large": (413, b"<html>"),
            "error": (503, b'{"detail": "the database is away"}'),
            "refused": (401, b'{"code": "retired", "detail": "gone"}'),
            "json": (200, b"{}"),
            "limit": (429, b'{"code": "unknown-job", "detail": "slow down"}'),
            "forbidden": (403, b'{"code": "unknown-job"}'),
            "bad": (400, b'{"code": "bad-field"}'),
            "old": (200, b"{}"),
            "away": (503, b'{"code": "unavailable", "detail": "the database is away"}'),
        }.get(name, (200, b'{"ok": true}'))
        self.send_response(status)
        if name == "old":
            self.send_header("Fathom-Answer", "1")
        elif name not in ("html", "json", "limit", "forbidden", "bad", "large"):
            self.send_header("Fathom-Answer", self.headers["Fathom-Request"])
        self.send_header("Content-Length", str(len(body)))
        if name == "last":
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        if name == "hang-up":
            self.close_connection = True

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture
def odd() -> Iterator[remote.Remote]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Odd) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = remote.Remote(f"http://127.0.0.1:{server.server_port}/below")
        yield client
        client.close()
        server.shutdown()


@pytest.mark.parametrize("name", ["html", "list", "error", "json", "limit", "forbidden", "bad", "old", "away"])
def test_what_is_no_answer_of_the_server_means_try_again(odd: remote.Remote, name: str) -> None:
    with pytest.raises(remote.Away):
        odd.call(name)
    assert odd.call("fine") == {"ok": True}


@pytest.mark.parametrize(("name", "status", "code"), [("large", 413, "too-large"), ("refused", 401, "retired")])
def test_a_refusal_is_told_apart(odd: remote.Remote, name: str, status: int, code: str) -> None:
    with pytest.raises(remote.Refused) as refusal:
        odd.call(name)
    assert (refusal.value.status, refusal.value.code) == (status, code)


def test_a_connection_that_was_closed_meanwhile_is_opened_anew(odd: remote.Remote) -> None:
    for name in ("fine", "last", "fine", "hang-up", "fine"):
        assert odd.call(name) == {"ok": True}
    odd.call("hang-up")
    time.sleep(0.2)
    assert odd.call("fine") == {"ok": True}


def test_an_answer_that_does_not_come_is_not_asked_for_twice(odd: remote.Remote) -> None:
    odd.call("fine")
    before = Odd.requests
    with pytest.raises(remote.Away):
        odd.call("slow", timeout_s=0.2)
    assert Odd.requests == before + 1


def test_a_server_that_is_not_there_is_away() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        client = remote.Remote(f"http://127.0.0.1:{sock.getsockname()[1]}")
        with pytest.raises(remote.Away, match="refused"):
            client.call("clock")


@pytest.mark.parametrize("name", ["html", "json", "limit", "forbidden", "bad", "old"])
def test_what_another_answers_is_told(odd: remote.Remote, name: str) -> None:
    with pytest.raises(
        remote.NotTheServer, match=r"not the server, but something in its place answered: [2-5]"
    ) as away:
        odd.call(name)
    assert away.value.says_later == (name == "limit")


def test_the_servers_own_failures_are_told_apart(odd: remote.Remote) -> None:
    with pytest.raises(remote.Failed):
        odd.call("error")
    with pytest.raises(remote.Unavailable):
        odd.call("away")
