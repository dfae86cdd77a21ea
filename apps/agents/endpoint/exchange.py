"""One HTTP exchange over ASGI: the body within its limit, the answer as JSON."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from apps.core import outage

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

# An agent names each request (Fathom-Request), and believes an answer that says the name again (Fathom-Answer):
# what stands on the way may answer in our place, also in JSON, or with an answer of before.
_REQUEST = re.compile(r"[0-9A-Za-z-]{1,64}")
# What is said to one that names nothing.
_NAMELESS = "1"


class Problem(Exception):
    """An answer other than 2xx: HTTP's status, a word for programs, a text for people."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


def bad_field(name: str, must: str) -> Problem:
    """Return the refusal of a field, with what it must be."""
    return Problem(400, "bad-field", f"“{name}” {must}.")


class Disconnected(Exception):
    """The agent hung up before its request was whole."""


def header(scope: Scope, name: bytes) -> str:
    """Return a request header's value, or ""; `name` in lower case."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """Return the request's body; Problem 413 if it is longer than `limit` (bytes)."""
    too_large = Problem(413, "too-large", f"The request is larger than {limit} bytes.")
    announced = header(scope, b"content-length")
    if announced.isdecimal() and int(announced) > limit:
        raise too_large
    parts = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise too_large
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def read_json(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body; Problem 400 for anything else."""
    try:
        data = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Problem(400, "bad-json", "The body must be one JSON object in UTF-8.") from None
    if not isinstance(data, dict):
        raise Problem(400, "bad-json", "The body must be one JSON object.")
    return data


async def answer(scope: Scope, send: Send, status: int, data: Mapping[str, Any]) -> None:
    """Send an answer to a request, marked as the service's own."""
    named = header(scope, b"fathom-request")
    body = json.dumps(data, separators=(",", ":")).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers.append((b"cache-control", b"no-store"))
    headers.append((b"fathom-answer", (named if _REQUEST.fullmatch(named) else _NAMELESS).encode()))
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 503:
        headers.append((b"retry-after", str(outage.RETRY_AFTER_S).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
