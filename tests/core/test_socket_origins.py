"""A WebSocket is opened by pages of the service itself, and by no other service of its host."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync

from apps.core.sockets import OwnOrigins

HOST = "fathom.example.org:8443"


def is_opened(scheme: str, origin: str | None, **forwarded: str) -> bool:
    """Return whether a WebSocket of this origin reaches the application."""
    reached = []

    async def application(scope: Any, _receive: Any, _send: Any) -> None:
        reached.append(scope["path"])

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        assert message["type"] == "websocket.close"

    headers = {"host": HOST, **forwarded} | ({"origin": origin} if origin is not None else {})
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "websocket", "scheme": scheme, "path": "/ws/campaigns/7/", "headers": pairs}
    async_to_sync(OwnOrigins(application))(scope, receive, send)
    return reached == ["/ws/campaigns/7/"]


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (f"http://{HOST}", True),
        ("https://wide.example.org", True),
        ("https://a.sub.example.org", True),
        (f"https://{HOST}", False),
        ("http://fathom.example.org", False),
        ("http://fathom.example.org:9999", False),
        ("http://wide.example.org", False),
        ("https://evil.example", False),
        ("null", False),
        ("", False),
        (None, False),
    ],
)
def test_only_own_and_trusted_pages_open_one(origin: str | None, expected: bool, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["fathom.example.org"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://wide.example.org", "https://*.sub.example.org"]
    assert is_opened("ws", origin) == expected


def test_the_scheme_is_that_of_the_proxy_as_pages_read_it(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["fathom.example.org"]
    assert is_opened("wss", f"https://{HOST}") and not is_opened("wss", f"http://{HOST}")
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert is_opened("ws", f"https://{HOST}", x_forwarded_proto="https")
    assert not is_opened("ws", f"https://{HOST}", x_forwarded_proto="http")
