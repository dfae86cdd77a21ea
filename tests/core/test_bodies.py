"""What may be sent, by the kind of an address and by who sends it: refused at the limit, and if nothing comes on."""

import asyncio
from typing import Any

import pytest
from django.conf import settings
from django.test import RequestFactory

from apps.accounts import senders
from apps.agents.endpoint import exchange, room
from apps.core import bodies, views, web
from apps.core.bodies import BodyKind
from tests import factories
from tests.core.test_space import PLACES, plain_addresses
from tests.factories import Cast

MIB = 1024 * 1024


class Answered:
    """What was sent to whoever asked."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = 0, {}, b""
        self.is_ended = self.is_awaited = False

    async def __call__(self, message: Any) -> None:
        """Take a message."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
        else:
            self.body += message.get("body", b"")
            self.is_ended = not message.get("more_body", False)


def scope_of(method: str, path: str, *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"testserver"), (b"content-type", b"application/json"), *headers],
    }


def test_each_place_that_takes_files_and_no_other_has_the_limit_of_files(db: None) -> None:
    assert set(settings.FILE_ADDRESSES) == set(PLACES)
    for place in PLACES:
        assert bodies.kind_of("POST", place, is_known=True) is BodyKind.FILES
        assert bodies.kind_of("POST", place, is_known=False) is BodyKind.ANONYMOUS
    for address in {*plain_addresses(), "/api/v1/campaigns/", "/campaigns/7/"} - set(PLACES):
        assert bodies.kind_of("POST", address, is_known=True) in (BodyKind.FORM, BodyKind.NOTHING)
        assert bodies.kind_of("GET", address, is_known=True) is BodyKind.NOTHING
    for address in ("/health/", "/health/live/", "/nothing/", "/static/x.css", "/imports/new"):
        assert bodies.kind_of("POST", address, is_known=True) is BodyKind.NOTHING


@pytest.mark.django_db(transaction=True)
def test_a_sender_is_known_by_a_token_or_a_session_that_holds(cast: Cast, client: Any) -> None:
    client.force_login(cast.alice)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    name = settings.SESSION_COOKIE_NAME
    token = factories.bearer(cast.alice)
    [authorization] = [value.encode() for value in token.values()]
    alice = f"person {cast.alice.pk}"
    assert senders.sender_of({b"cookie": f"other=1; {name}={key}".encode()}) == alice
    assert senders.sender_of({b"authorization": authorization}) == alice
    assert not senders.sender_of({})
    assert not senders.sender_of({b"cookie": f"{name}={'x' * 32}".encode()})
    assert not senders.sender_of({b"authorization": authorization[:-1] + b"!"})
    assert not senders.sender_of({b"authorization": authorization[:-1] + b"-"})
    assert not senders.sender_of({b"authorization": b"Bearer x"})


@pytest.mark.parametrize("path", ["/accounts/login/", "/api/v1/campaigns/", "/health/", "/agent/v1/x"])
async def test_a_body_that_does_not_come_on_is_given_up(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "IDLE_S", 0.05)
    monkeypatch.setattr(bodies, "LINGER_S", 0.05)
    pieces = iter([{"type": "http.request", "body": b"{", "more_body": True}])

    async def receive() -> Any:
        for piece in pieces:
            return piece
        return await asyncio.Event().wait()

    scope = scope_of("POST", path, (b"content-length", b"100"))
    if path.startswith("/agent/"):
        news = room.AgentRoom(MIB, MIB)
        with news.share_of(1, 1) as share, pytest.raises(room.Problem) as refusal:
            await asyncio.wait_for(exchange.read_body(scope, receive, BodyKind.NEWS, share), 5)
        assert refusal.value.status == 408
        return
    answered = Answered()
    await asyncio.wait_for(web.PageHandler().handle(scope, receive, answered), 30)
    assert (answered.status, answered.is_ended) == (408, True)
    assert answered.headers[b"connection"] == b"close"


def test_while_senders_cannot_be_looked_up_what_is_larger_is_put_off_and_not_refused_for_good() -> None:
    request = RequestFactory().post("/api/v1/inventory/")
    answer = views.refused_body(request, bodies.Unanswerable())
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert int(answer.headers["Content-Length"]) == len(answer.content)
