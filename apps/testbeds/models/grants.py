"""Which kernel settings of a node its owner lets a team change for measurements."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Team
from apps.core.models import KIB, BoundedJSONField, TimeStamped
from apps.testbeds.models.machines import Node


class SettingGrant(TimeStamped):
    """Leave for a team to set keys on a node; never changed, only withdrawn, so that it says who allowed what when.

    `pattern` is a key or a pattern such as ``net.ipv4.tcp_*``; `values` are the values allowed, as texts or patterns,
    an empty list allowing all that the key can take.
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="setting_grants", verbose_name=_("node"))
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="setting_grants", verbose_name=_("team"))
    pattern = models.CharField(_("setting"), max_length=120)
    values = BoundedJSONField(_("values allowed"), most_bytes=16 * KIB, default=list, blank=True)
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("allowed by"),
    )
    revoked_at = models.DateTimeField(_("withdrawn"), null=True, blank=True)
    revoked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("withdrawn by"),
    )

    class Meta:
        ordering = ["pattern", "-created_at", "id"]
        verbose_name = _("allowed setting")
        verbose_name_plural = _("allowed settings")
        constraints = [
            models.UniqueConstraint(
                fields=["node", "team", "pattern"],
                name="one_open_grant_per_pattern",
                condition=Q(revoked_at__isnull=True),
                violation_error_message=_("This is allowed already: withdraw that first to allow other values."),
            )
        ]

    def __str__(self) -> str:
        return f"{self.node}: {self.pattern}"
