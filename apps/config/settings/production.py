"""Settings of a running service; `make serve` and the containers use them."""

import os

from django.core.exceptions import ImproperlyConfigured

from apps.config.settings.base import *  # noqa: F403
from apps.config.settings.base import SECRET_KEY

if not SECRET_KEY:
    raise ImproperlyConfigured("Set SECRET_KEY to a long random text (`make serve` makes and keeps one).")

# Plain HTTP is right on loopback only; behind a TLS proxy set HTTPS=1.
HTTPS = os.environ.get("HTTPS", "") == "1"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
