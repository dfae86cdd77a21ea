"""One HTTP exchange over ASGI: the body within its limit, the answer as JSON."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from apps.agents.endpoint.room import GaveWay, Problem, RoomShare
from apps.bench import strict_json
from apps.core import bodies, documents, outage

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

# An agent names each request (Fathom-Request), and believes an answer that says the name again (Fathom-Answer):
# what stands on the way may answer in our place, also in JSON, or with an answer of before.
_REQUEST = re.compile(r"[0-9A-Za-z-]{1,64}")
# What an agent prints comes as a few long texts: the most values have its facts.
_LIMITS = documents.DocumentLimits(most_bytes=bodies.LINGER_BYTES, deepest=64, most_values=100_000)
# What is said to one that names nothing.
_NAMELESS = "1"


def bad_field(name: str, must: str) -> Problem:
    """Return the refusal of a field, with what it must be."""
    return Problem(400, "bad-field", f"“{name}” {must}.")


class Disconnected(Exception):
    """The agent hung up before its request was whole."""


def header(scope: Scope, name: bytes) -> str:
    """Return a request header's value, or ""; `name` in lower case."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def address_of(scope: Scope) -> str:
    """Return the address that a request comes from, "" if none is known."""
    return str((scope.get("client") or ("",))[0])


async def read_body(scope: Scope, receive: Receive, kind: bodies.BodyKind, share: RoomShare) -> bytes:
    """Return the request's body, within the limit of its kind and, while it comes, of its sender's share of memory.

    Problem 413 for more, 408 if it does not come on, 503 if too much comes at once.
    """
    length = bodies.announced_bytes(dict(scope["headers"]))
    body = bytearray()
    try:
        # What is announced takes nothing: a head that promises 64 MiB costs a hundred bytes.
        with share.while_it_comes():
            async for piece in bodies.pieces(receive, length, bodies.Allowance(kind)):
                share.grow(len(body) + len(piece))
                body += piece
    except GaveWay:
        raise Problem(503, "unavailable", "This came too slowly while others sent much: send it again.") from None
    except bodies.TooLarge as error:
        raise Problem(error.status, "too-large", str(error)) from None
    except bodies.BodyStalled as error:
        raise Problem(error.status, "stalled", str(error)) from None
    except bodies.HungUp:
        raise Disconnected from None
    return bytes(body)


class Incoming:
    """What comes of one request, and whether its body was read to the end."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        head = dict(scope["headers"])
        self._receive = receive
        # A short one is there with its head: whoever sent it reads the answer, and asks again over its connection.
        is_long = bodies.announced_bytes(head) > bodies.most_bytes(bodies.BodyKind.NOTHING)
        self.is_left = b"transfer-encoding" in head or is_long

    async def __call__(self) -> Any:
        """Return the next message."""
        message = await self._receive()
        if not message.get("more_body", False):
            self.is_left = False
        return message


def read_json(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body; Problem 400 for anything else."""
    try:
        data = documents.read_json(body, _LIMITS, takes_endless=True)
    except documents.UnreadableError:
        raise Problem(400, "bad-json", "The body must be one JSON object in UTF-8.") from None
    if not isinstance(data, dict):
        raise Problem(400, "bad-json", "The body must be one JSON object.")
    return data


async def answer(
    scope: Scope, send: Send, status: int, data: Mapping[str, Any], retry_after_s: int | None = None
) -> None:
    """Send an answer to a request, marked as the service's own; `retry_after_s` is when to come again."""
    request_id = header(scope, b"fathom-request")
    body = strict_json.dumps(data, separators=(",", ":")).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers.append((b"cache-control", b"no-store"))
    headers.append((b"fathom-answer", (request_id if _REQUEST.fullmatch(request_id) else _NAMELESS).encode()))
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 503 or retry_after_s is not None:
        headers.append((b"retry-after", str(retry_after_s or outage.RETRY_AFTER_S).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
