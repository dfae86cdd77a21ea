"""Whatever a crowd asks for, it is told to come again before any thread has work, and so before any query."""

import asyncio
from typing import Any

import pytest
from django.conf import settings
from django.urls import get_resolver

from apps.config import asgi
from apps.core.limits import crowds as limits
from apps.core.limits.askers import ALIVE, HEALTH
from apps.core.limits.crowds import Crowds

CROWD, HERE = "198.51.100.", "192.0.2.1"
# One address of each first word, a file, what is not there, and what is not well written.
WORDS = sorted({str(each.pattern).strip("^").partition("/")[0] for each in get_resolver().url_patterns})
ODD = ["/static/js/charts/draw.js", "/static/nothing.js", "/nothing/", "/%00", "/accounts/login/", HEALTH, "/admin/"]
DOORS = sorted({*(f"/{word}/" if word else "/" for word in WORDS), "/api/v1/campaigns/", "/api/v2/", *ODD})
TOKEN = (b"authorization", b"Bearer invented")
SESSION = (b"cookie", f"{settings.SESSION_COOKIE_NAME}={'m' * 32}".encode())
# What a head brings, and what of a body comes at once: nothing, all of a small one, none of one of somebody known.
REQUESTS: dict[str, tuple[str, list[tuple[bytes, bytes]], bytes | None]] = {
    "nothing": ("GET", [], b""),
    "token": ("GET", [TOKEN], b""),
    "session": ("HEAD", [SESSION], b""),
    "other host": ("GET", [(b"host", b"elsewhere.example.org")], b""),
    "no method": ("FETCH", [], b""),
    "small": ("POST", [(b"content-length", b"2")], b"{}"),
    "in pieces": ("PATCH", [(b"transfer-encoding", b"chunked"), TOKEN], b"{}"),
    "announced": ("POST", [(b"content-length", b"9000"), TOKEN], None),
    "announced in a session": ("PUT", [(b"content-length", b"9000"), SESSION], None),
    "too large": ("POST", [(b"content-length", b"9000000000000")], None),
}


class OnLoop(asyncio.SelectorEventLoop):
    """A loop that gives no work to a thread."""

    def run_in_executor(self, *_arguments: Any) -> Any:
        pytest.fail("a thread")

    def call_soon_threadsafe(self, *_arguments: Any, **_options: Any) -> Any:
        pytest.fail("a thread")


async def crowd(path: str) -> list[limits.Turn]:
    """Return the turns of as many addresses as may be in hand for a path."""
    turns = [limits.of_process.turn_of(f"{CROWD}{number}", path, b"", b"") for number in range(20)]
    for turn in turns:
        try:
            await asyncio.wait_for(turn.take(), 0.001)
        except (TimeoutError, limits.CrowdedError):
            return turns
    raise AssertionError


def ask(path: str, request: str) -> list[dict[str, Any]]:
    """Return what a request is answered with while others have all turns."""
    method, headers, piece = REQUESTS[request]
    scope = {"type": "http", "method": method, "path": path, "headers": headers, "client": (HERE, 1)}
    scope |= {"query_string": b"", "raw_path": path.encode(), "http_version": "1.1", "scheme": "http"}
    messages = [] if piece is None else [{"type": "http.request", "body": piece, "more_body": False}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def scenario() -> None:
        _turns = await crowd(path)
        await asgi.http.otherwise(scope, receive, send)

    with asyncio.Runner(loop_factory=OnLoop) as runner:
        runner.run(asyncio.wait_for(scenario(), 20))
    return sent


@pytest.mark.parametrize("request_kind", REQUESTS)
@pytest.mark.parametrize("path", [path for path in DOORS if path != ALIVE])
def test_a_crowds_request_is_answered_without_a_thread(
    path: str, request_kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.core.limits.crowds.WAIT_S", 0.01)
    monkeypatch.setattr("apps.core.bodies.LINGER_S", 0.01)
    monkeypatch.setattr("apps.core.limits.crowds.of_process", Crowds())
    sent = ask(path, request_kind)
    assert sent[0]["status"] == 429
    assert dict(sent[0]["headers"])[b"Retry-After"] == b"0"
    assert b"Many who are not signed in" in sent[1]["body"]
