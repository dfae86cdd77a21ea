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
from launch.service import Service

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

    first_account = Service.first_account

    def __init__(self, home: Home, address: str) -> None:
        self.home, self.address = home, address
        self.supervisor = SimpleNamespace(is_stopping=False)
        self.commands: list[str] = []

    def manage(self, command: str, *words: str, again: object = ()) -> str:
        """Return the token that is made, or what is told of an account."""
        self.commands.append(command)
        self.words = words
        return f"{FRESH}\n" if command == "create_token" else "username: demo\n"


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


def test_a_password_that_was_lost_before_it_was_told_is_made_anew(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(_kind: str, _line: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(run.supervisor, "print_event", die)
        run.account(running)
    assert "--renew-unused" not in running.words
    with monkeypatch.context() as patch:
        patch.setattr(running, "manage", lambda *words, again=(): calls.append(words) or "password: x")
        calls: list[tuple[str, ...]] = []
        run.account(running)
        run.account(running)
    accounts = [words for words in calls if words[0] == "create_account"]
    assert ["--renew-unused" in words for words in accounts] == [True, False]
