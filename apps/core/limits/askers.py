"""Who is asking, as limits know them."""

import ipaddress
import re
from http.cookies import CookieError

from django.conf import settings
from django.http import HttpRequest
from django.http.cookie import parse_cookie

# Who restarts what hangs asks these every second or so, and must get an answer: how all is, and whether this lives.
HEALTH, ALIVE = "/health/", "/health/live/"
REST = "/api/"
# One household or one machine has a whole network of this length.
_IPV6_PREFIX = 64
# As Django gives them out. A cookie may hold any sign, also those that PostgreSQL takes in no text.
_SESSION_KEY = re.compile(r"[a-z0-9]{32}")


def address_of(request: HttpRequest) -> str:
    """Return the address that a request comes from, of IPv6 the network; "" if there is none."""
    return address_in(str(request.META.get("REMOTE_ADDR") or ""))


def address_in(text: str) -> str:
    """Return the same of an address as it is written."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))


def is_session_key(text: str) -> bool:
    """Say whether a text could be the key of a session."""
    return _SESSION_KEY.fullmatch(text) is not None


def session_key_in(cookies: bytes) -> str:
    """Return the key of a session that a Cookie header holds, "" for none."""
    try:
        key = parse_cookie(cookies.decode("latin-1")).get(settings.SESSION_COOKIE_NAME, "")
    except CookieError:
        return ""
    return key if is_session_key(key) else ""
