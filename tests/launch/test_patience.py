"""The demo's client asks again while the service is away, and says so once."""

import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from launch.demo import rest
from launch.supervisor import Stopped


@dataclass
class Site:
    """A server that is away for some requests; `asked` are those that came."""

    address: str = ""
    away: int = 0
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(rest, "AGAIN_S", 0.01)
    site = Site()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            site.asked.append(self.command)
            is_away = len(site.asked) <= site.away
            self.send_response(503 if is_away else 200)
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_POST = answer

        def log_message(self, *_words: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_away_is_asked_again_and_told_once(site: Site, method: str) -> None:
    site.away = 3
    words: list[str] = []
    api = rest.Rest(site.address, "token", patience_s=60, report=words.append)
    assert api.call(method, "me/") == {}
    assert len(site.asked) == 4
    assert len(words) == 1
    assert "503" in words[0]


def test_without_patience_it_is_told_at_once(site: Site) -> None:
    site.away = 3
    with pytest.raises(rest.RestError, match="503"):
        rest.Rest(site.address, "token").get("me/")
    assert len(site.asked) == 1


def test_a_reading_without_an_answer_is_repeated_and_a_writing_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "AGAIN_S", 0.01)
    words: list[str] = []
    # Nobody listens there.
    api = rest.Rest("http://127.0.0.1:1", "token", patience_s=0.2, report=words.append)
    with pytest.raises(rest.RestError):
        api.get("me/")
    assert len(words) == 1
    with pytest.raises(rest.RestError):
        api.post("campaigns/")
    assert len(words) == 1


def test_who_is_told_of_the_stop_asks_no_more() -> None:
    ends = iter([False, True])
    api = rest.Rest("http://127.0.0.1:1", "token", patience_s=600, is_over=lambda: next(ends))
    with pytest.raises(Stopped):
        api.get("me/")
