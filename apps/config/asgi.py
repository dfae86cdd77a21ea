"""The ASGI application: agents' long polls first, then WebSockets and pages."""

import gc
import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings.production")
pages = get_asgi_application()

# These modules need Django's registry, which get_asgi_application() has just filled.
from django.urls import get_resolver  # noqa: E402

from apps.agents import endpoint  # noqa: E402
from apps.campaigns import routing  # noqa: E402

# A poll that waits must not hold one of Django's threads: it is answered before Django's handler.
http = endpoint.AgentEndpoint(otherwise=pages)
application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(routing.websocket_urlpatterns))),
    }
)

# All that is loaded by now stays: the collector need not look through it again while a large page is made.
assert get_resolver().url_patterns
gc.collect()
gc.freeze()
# A page of thousands of figures makes some 100,000 objects and keeps them to its end: to look through them at every
# 700, as is usual, takes a quarter of its time.
gc.set_threshold(100_000, 20, 50)
