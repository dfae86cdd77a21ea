"""Which WebSockets there are: what is asked of another address, or by another name, is none of ours."""

from collections.abc import Callable, Sequence
from io import BytesIO

from channels.routing import URLRouter
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.http.request import split_domain_port, validate_host
from django.middleware.csrf import CsrfViewMiddleware
from django.urls import Resolver404, URLPattern
from django.utils.http import is_same_domain

from apps.core.web import Application, Receive, Scope, Send

_LOOPBACK = [".localhost", "127.0.0.1", "[::1]"]


class KnownSockets:
    """Hands WebSockets on whose address and host are ours; others are refused, without a word in the log."""

    def __init__(self, patterns: Sequence[URLPattern], surround: Callable[[Application], Application]) -> None:
        self._patterns = patterns
        self.guarded = surround(URLRouter(list(patterns)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket."""
        if self._is_there(scope["path"]) and _is_ours(dict(scope["headers"]).get(b"host", b"").decode("latin-1")):
            await self.guarded(scope, receive, send)
        else:
            # 403: after an answer of our own uvicorn logs an error for each.
            await send({"type": "websocket.close"})

    def _is_there(self, path: str) -> bool:
        try:
            return any(pattern.resolve(path.removeprefix("/")) for pattern in self._patterns)
        except Resolver404:
            return False


class OwnOrigins:
    """Refuses WebSockets of pages that are none of ours: of another scheme, host or port, as forms are refused.

    Cookies heed no port, so another service of the same host could open a signed-in person's.
    """

    def __init__(self, application: Application) -> None:
        self._application = application
        self._forms = CsrfViewMiddleware(lambda _request: HttpResponse())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket, or refuse it."""
        scheme = "https" if scope.get("scheme") == "wss" else "http"
        request = ASGIRequest({**scope, "type": "http", "method": "GET", "scheme": scheme}, BytesIO())
        if self._is_own(request.META.get("HTTP_ORIGIN", ""), f"{request.scheme}://{request.get_host()}"):
            await self._application(scope, receive, send)
        else:
            await send({"type": "websocket.close"})

    def _is_own(self, origin: str, own: str) -> bool:
        if origin == own or origin in self._forms.allowed_origins_exact:
            return True
        scheme, _separator, host = origin.partition("://")
        return any(is_same_domain(host, trusted) for trusted in self._forms.allowed_origin_subdomains.get(scheme, ()))


def _is_ours(host: str) -> bool:
    allowed = settings.ALLOWED_HOSTS or (_LOOPBACK if settings.DEBUG else [])
    domain, _port = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)
