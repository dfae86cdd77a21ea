"""The ASGI application: agents' long polls first, then WebSockets and pages."""

import os

import django
from channels.routing import ProtocolTypeRouter

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings.production")
django.setup(set_prefix=False)

# These modules need Django's registry, which has just been filled.
from django.utils import timezone  # noqa: E402

from apps.agents import endpoint  # noqa: E402
from apps.campaigns import routing  # noqa: E402
from apps.core import scratch  # noqa: E402
from apps.core.limits.open_sockets import BoundedSockets  # noqa: E402
from apps.core.sockets import KnownSockets, OwnOrigins  # noqa: E402
from apps.core.web import PageHandler, RefusingWhileAway, ReturningConnections  # noqa: E402

# What was being sent when another process like this one was killed.
scratch.sweep(now=timezone.now())

# A poll that waits must not hold one of Django's threads: it is answered before Django's handler.
http = endpoint.AgentEndpoint(otherwise=ReturningConnections(PageHandler()))
application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": KnownSockets(
            routing.websocket_urlpatterns,
            lambda sockets: OwnOrigins(BoundedSockets(RefusingWhileAway(sockets))),
        ),
    }
)
