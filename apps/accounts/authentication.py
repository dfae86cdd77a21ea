"""Sign-in by API token: `Authorization: Bearer fth_api_…`."""

from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.accounts.models import ApiToken, User
from apps.core import secrets

# A busy client must not cost a write a request.
_TOUCH_AFTER = timedelta(minutes=1)


class TokenAuthentication(BaseAuthentication):
    """Reads the bearer token and proves it against its digest."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the token's owner and the token, None if there is none; 401 for one that is not good."""
        parts = get_authorization_header(request).decode("latin-1").split()
        if not parts or parts[0].lower() != "bearer":
            return None
        prefix = secrets.prefix_of(parts[1]) if len(parts) == 2 else None
        token = ApiToken.objects.select_related("user").filter(prefix=prefix).first() if prefix else None
        if token is None or not secrets.matches(parts[1], token.digest):
            raise AuthenticationFailed(_("This token is unknown. Make one on your tokens page."))
        now = timezone.now()
        if token.revoked_at:
            raise AuthenticationFailed(_("This token was revoked. Make a new one on your tokens page."))
        if token.expires_at and token.expires_at <= now:
            raise AuthenticationFailed(_("This token has expired. Make a new one on your tokens page."))
        if not token.user.is_active:
            raise AuthenticationFailed(_("The account of this token is closed."))
        if token.last_used_at is None or now - token.last_used_at > _TOUCH_AFTER:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Name the scheme, so that a refusal is 401 and not 403."""
        return "Bearer"
