"""The application as a web process serves it: its threads share a few connections to the database."""

import gc
import os

from django.conf import settings

from apps.core import connections, tables

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings.production")
# Before anything opens a connection.
connections.fit_to_web(settings.DATABASES["default"], most=settings.WEB_CONNECTIONS)
# The steps of what is loaded now.
tables.of_this_code()
# All that is loaded from here on stays: to look through it while it comes takes a seventh of the start.
gc.disable()

from django.urls import get_resolver  # noqa: E402
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware  # noqa: E402

from apps.config import asgi  # noqa: E402
from apps.core import outage  # noqa: E402

application = ProxyHeadersMiddleware(asgi.application, settings.PROXIES) if settings.PROXIES else asgi.application

__all__ = ["application"]

# What it would write into tables of another version nobody could read.
outage.wait_for_tables()

# Nor need the collector look through it again while a large page is made.
assert get_resolver().url_patterns
gc.collect()
gc.freeze()
gc.enable()
