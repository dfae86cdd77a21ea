"""Settings of a running service; `make serve` and the containers use them."""

from apps.config.settings.base import *  # noqa: F403
from apps.config.settings.base import PROXIES, SECRET_KEY, environment

# What is signed by a key that can be guessed, sessions and links in mails among it, anybody can sign.
SHORTEST_KEY = 32
if not SECRET_KEY:
    environment.wrong.append("SECRET_KEY is missing: give a long random text (`make serve` makes and keeps one).")
elif len(SECRET_KEY) < SHORTEST_KEY:
    environment.wrong.append(f"SECRET_KEY is shorter than {SHORTEST_KEY} signs: give a long random text.")

# Plain HTTP is right on loopback only; behind a TLS proxy set HTTPS=1.
HTTPS = environment.flag("HTTPS")
if HTTPS and not PROXIES:
    PROXIES = ["127.0.0.1/32", "::1/128"]
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0

environment.check()
