"""Who sends a request, as far as its head tells: asked before a long body is taken."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import ApiToken
from apps.core import secrets
from apps.core.limits.askers import session_key_in


def sender_of(headers: Mapping[bytes, bytes]) -> str:
    """Return whose token that holds, or whose session's cookie, a head has; "" if it has neither.

    It is no sign-in: the request is authenticated in full when its body is there.
    """
    words = headers.get(b"authorization", b"").decode("latin-1").split()
    if words and words[0].lower() == "bearer":
        return _holder_of(words[1]) if len(words) == 2 else ""
    key = session_key_in(headers.get(b"cookie", b""))
    if not key:
        return ""
    session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return _named(session.get(SESSION_KEY))


def _named(person: Any) -> str:
    return f"person {person}" if person is not None else ""


def _holder_of(text: str) -> str:
    prefix = secrets.prefix_of(text)
    if prefix is None:
        return ""
    lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    token = ApiToken.objects.filter(lasting, prefix=prefix, revoked_at=None, user__is_active=True).first()
    return _named(token.user_id) if token is not None and secrets.matches(text, token.digest) else ""
