"""What surrounds the pages and the WebSockets of a web process."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import close_old_connections

from apps.core import outage

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

# "Try again later" (RFC 6455's registry of close codes).
_TRY_AGAIN_LATER = 1013


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
