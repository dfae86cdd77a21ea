"""The demo on a folder of an earlier one: its token may have been revoked since."""

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from launch.demo import run
from launch.demo.rest import RestError
from launch.home import Home

FRESH = "fresh-token"


class Answers(http.server.BaseHTTPRequestHandler):
    """A service that knows one token; to "broken" it answers 500."""

    def do_GET(self) -> None:
        token = (self.headers["Authorization"] or "").partition(" ")[2]
        status = {FRESH: 200, "broken": 500}.get(token, 401)
        body = json.dumps({"detail": "This token was revoked."}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Print nothing."""


class Running:
    """What the demo needs of a running service; `commands` are those that were called."""

    def __init__(self, home: Home, address: str) -> None:
        self.home, self.address = home, address
        self.supervisor = SimpleNamespace(is_stopping=False)
        self.commands: list[str] = []

    def manage(self, command: str, *_words: str, again: object = ()) -> str:
        """Return the token that is made."""
        self.commands.append(command)
        return f"{FRESH}\n" if command == "create_token" else ""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Running(Home(tmp_path), f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("old", "commands"),
    [
        (None, ["create_account", "create_token"]),
        (FRESH, ["create_account"]),
        ("revoked", ["create_account", "create_token"]),
    ],
)
def test_the_demo_takes_a_token_that_works(running: Running, old: str | None, commands: list[str]) -> None:
    kept = running.home.folder / "demo.json"
    if old:
        kept.write_text(json.dumps({"token": old}))
    assert run.account(running) == FRESH
    assert running.commands == commands
    assert json.loads(kept.read_text()) == {"token": FRESH}


def test_the_demo_makes_no_token_for_a_service_that_fails(running: Running) -> None:
    (running.home.folder / "demo.json").write_text(json.dumps({"token": "broken"}))
    with pytest.raises(RestError, match="500"):
        run.account(running)
    assert "create_token" not in running.commands
