"""Whether whoever sends a request is signed in, as far as its head tells: asked before a long body is taken."""

from collections.abc import Mapping
from importlib import import_module

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db.models import Q
from django.http import parse_cookie
from django.utils import timezone

from apps.accounts.models import ApiToken
from apps.core import secrets


def is_known(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether the head has a token that holds, or the cookie of somebody's session.

    It is no sign-in: the request is authenticated in full when its body is there.
    """
    words = headers.get(b"authorization", b"").decode("latin-1").split()
    if words and words[0].lower() == "bearer":
        return len(words) == 2 and _holds(words[1])
    key = parse_cookie(headers.get(b"cookie", b"").decode("latin-1")).get(settings.SESSION_COOKIE_NAME)
    if not key:
        return False
    session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return session.get(SESSION_KEY) is not None


def _holds(text: str) -> bool:
    prefix = secrets.prefix_of(text)
    if prefix is None:
        return False
    lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    token = ApiToken.objects.filter(lasting, prefix=prefix, revoked_at=None, user__is_active=True).first()
    return token is not None and secrets.matches(text, token.digest)
