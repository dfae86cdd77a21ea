"""Tombstones: what is left of deleted campaigns, so that a permanent id always answers."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.campaigns.models.sharing import Shared
from apps.core.models import KIB, BoundedJSONField, BoundedTextField


class Tombstone(Shared):
    """Who deleted a campaign, when and why; whoever could see the campaign sees this."""

    name = models.CharField(_("name"), max_length=200)
    # The teams that had accepted the campaign.
    shared_with = models.ManyToManyField(
        "accounts.Team", blank=True, related_name="shared_tombstones", verbose_name=_("shared with")
    )
    trials = models.PositiveIntegerField(_("trials"), default=0)
    campaign_created_at = models.DateTimeField()
    # Null, and "" as the name, where a program deleted it.
    deleted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="deleted_campaigns"
    )
    deleted_by_name = models.CharField(_("deleted by"), max_length=200, blank=True)
    deleted_at = models.DateTimeField(_("deleted"))
    # {part: digest} of what was deleted; only what agrees with it comes back under the permanent id.
    digests = BoundedJSONField(most_bytes=1024 * KIB, default=dict, db_default={}, editable=False)
    # As the campaign had it: what only an archive told of stays its word when it comes back.
    brought_in = BoundedJSONField(most_bytes=8 * KIB, default=dict, db_default={}, editable=False)
    reason = BoundedTextField(_("reason"), max_length=2000, blank=True)

    class Meta:
        ordering = ["-deleted_at", "-id"]
        verbose_name = _("deleted campaign")
        verbose_name_plural = _("deleted campaigns")

    def __str__(self) -> str:
        return self.name
