"""What surrounds the pages and the WebSockets of a web process, and how it takes what is sent."""

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import IO, Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.db import close_old_connections
from django.http import HttpRequest

from apps.core import outage, scratch, space

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

# "Try again later" (RFC 6455's registry of close codes).
_TRY_AGAIN_LATER = 1013
# What a request has, if there was no room for its body.
_NO_SPACE = "no_space"


class _Sender:
    """Whoever sends a request, and what its head says of the body."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        head = dict(scope.get("headers", ()))
        length = head.get(b"content-length", b"")
        self.length = int(length) if length.isdigit() else 0
        self.kind = head.get(b"content-type", b"").decode("latin-1")

    async def __call__(self) -> Any:
        """Return the next message."""
        return await self._receive()


class Pages(ASGIHandler):
    """Django's handler, which takes a body into our own folder, or to its end without storing it if there is no room.

    Whoever sends it would read no answer before.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await super().handle(dict(scope), _Sender(scope, receive), send)

    async def read_body(self, receive: Any) -> IO[bytes]:
        """Return the body; one that there was no room for is empty, and has the reason as `no_space`."""
        error: Exception | None = space.refusal(receive.length, receive.kind)
        body, is_whole = scratch.new_spool(settings.FILE_UPLOAD_MAX_MEMORY_SIZE), False
        while not is_whole:
            message = await receive()
            if message["type"] == "http.disconnect":
                body.close()
                raise RequestAborted
            is_whole = not message.get("more_body", False)
            try:
                if error is None:
                    body.write(message.get("body", b""))
                if is_whole:
                    body.seek(0)
            except OSError as failure:
                if not space.is_missing(failure):
                    raise
                error = space.NoSpaceError(space.COPIES * receive.length)
                # It would write the rest now.
                with contextlib.suppress(OSError):
                    body.close()
                body = scratch.new_spool(settings.FILE_UPLOAD_MAX_MEMORY_SIZE)
        body.no_space = error
        return body

    def create_request(self, scope: Scope, body_file: Any) -> Any:
        """Return the request, which knows whether there was room for its body, and the answer to one that is none."""
        request, answer = super().create_request(dict(scope), body_file)
        if request is not None:
            setattr(request, _NO_SPACE, body_file.no_space)
        return request, answer


def refusal_of(request: HttpRequest) -> Exception | None:
    """Return why what a request brings cannot be taken, None if it can."""
    if hasattr(request, _NO_SPACE):
        error: Exception | None = getattr(request, _NO_SPACE)
        return error
    length = str(request.META.get("CONTENT_LENGTH") or "")
    return space.refusal(int(length) if length.isdigit() else 0, request.content_type or "")


class ReturningConnections:
    """Has each request give its database connection back to the pool, also one that ends in an error on its way out.

    Django does so when it closes the response, which it never comes to if the response cannot be sent.
    """

    def __init__(self, pages: Application) -> None:
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Django's handler joins this context: its one thread is the request's.
        async with ThreadSensitiveContext():
            try:
                await self._pages(scope, receive, send)
            except BaseException:
                await sync_to_async(close_old_connections)()
                raise


class RefusingWhileAway:
    """Closes a WebSocket that cannot be opened while the database or the broker is away; its page asks again."""

    def __init__(self, sockets: Application) -> None:
        self._sockets = sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket."""
        try:
            outage.watch.refuse()
            await self._sockets(scope, receive, send)
        except Exception as error:
            if not outage.is_unavailability(error):
                raise
            outage.watch.note(error)
            await send({"type": "websocket.close", "code": _TRY_AGAIN_LATER})
