"""What a token may do, whoever owns it."""

from django.utils.translation import gettext_lazy as _
from rest_framework import permissions
from rest_framework.request import Request

from apps.accounts.models import ApiToken


class ScopedToken(permissions.BasePermission):
    """A token of scope "read" may only read."""

    message = _("This token may only read. Make one that may write on your tokens page.")

    def has_permission(self, request: Request, view: object) -> bool:
        """Refuse writes of read-only tokens."""
        if request.method in permissions.SAFE_METHODS or not isinstance(request.auth, ApiToken):
            return True
        return request.auth.scope == ApiToken.Scope.WRITE


class Administrator(permissions.BasePermission):
    """An administrator of the service, whatever their role in a team (create_account --administrator)."""

    message = _("Only administrators of the service see this: its operator makes one with create_account.")

    def has_permission(self, request: Request, view: object) -> bool:
        """Refuse everybody else."""
        return bool(request.user.is_superuser)
