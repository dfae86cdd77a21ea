"""What surrounds pages and WebSockets: connections are given back, and an outage closes a socket politely."""

from typing import Any

import pytest
from django.db import OperationalError

from apps.core import outage, web

Messages = list[dict[str, Any]]


async def receive() -> dict[str, Any]:
    return {"type": "websocket.connect"}


@pytest.fixture
def no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage.watch, "note", lambda error: None)


async def opened(error: Exception | None) -> Messages:
    """Return what is sent to a WebSocket whose opening ends in an error."""
    sent: Messages = []

    async def sockets(_scope: Any, _receive: Any, send: Any) -> None:
        if error:
            raise error
        await send({"type": "websocket.accept"})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await web.RefusingWhileAway(sockets)({"type": "websocket"}, receive, send)
    return sent


async def test_a_websocket_is_asked_to_come_again_while_the_database_is_away(no_look: None) -> None:
    assert await opened(None) == [{"type": "websocket.accept"}]
    assert await opened(OperationalError("gone")) == [{"type": "websocket.close", "code": 1013}]
    with pytest.raises(ValueError, match="ours"):
        await opened(ValueError("ours"))


async def test_an_answer_that_cannot_be_sent_gives_its_connection_back(monkeypatch: pytest.MonkeyPatch) -> None:
    given_back: list[bool] = []
    monkeypatch.setattr(web, "give_back", lambda: given_back.append(True))

    async def pages(scope: Any, _receive: Any, _send: Any) -> None:
        if scope["fails"]:
            raise ConnectionError("the reader is gone")

    around = web.ReturningConnections(pages)
    await around({"fails": False}, receive, receive)
    assert given_back == []
    with pytest.raises(ConnectionError):
        await around({"fails": True}, receive, receive)
    assert given_back == [True]
