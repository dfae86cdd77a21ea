"""The ASGI application: agents' long polls first, then WebSockets and pages."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings.production")
pages = get_asgi_application()

# These modules need Django's registry, which get_asgi_application() has just filled.
from apps.agents import endpoint  # noqa: E402
from apps.campaigns import routing  # noqa: E402
from apps.core.serving import RefusingWhileAway, ReturningConnections  # noqa: E402

# A poll that waits must not hold one of Django's threads: it is answered before Django's handler.
http = endpoint.AgentEndpoint(otherwise=ReturningConnections(pages))
application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(
            RefusingWhileAway(AuthMiddlewareStack(URLRouter(routing.websocket_urlpatterns)))
        ),
    }
)
