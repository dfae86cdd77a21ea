"""API tokens: only their digest is kept."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.core.models import TimeStamped
from apps.core.names import check_seen


class ApiToken(TimeStamped):
    """A person's key to the REST interface: `prefix` finds the row, `digest` (SHA-256) proves the secret."""

    class Scope(models.TextChoices):
        READ = "read", _("Read only")
        WRITE = "write", _("Read and write")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=100, validators=[check_seen])
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    # The token that it was made with: it ends with it.
    minted_by = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, editable=False, related_name="minted"
    )
    scope = models.CharField(_("scope"), max_length=8, choices=Scope.choices, default=Scope.WRITE)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    @staticmethod
    def in_force() -> models.Q:
        """Return the condition of those that have not expired."""
        return models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now())

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
