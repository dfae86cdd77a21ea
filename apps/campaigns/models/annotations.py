"""What people add to campaigns: tags to find them by, and notes."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core.models import BoundedTextField, TimeStamped

LONGEST_TAG = 50
MOST_TAGS = 20
LONGEST_NOTE = 10_000


class Tagged(models.Model):
    """Base of what is found by tags: short words in small letters, each once, in their order."""

    tags = ArrayField(
        models.CharField(max_length=LONGEST_TAG), verbose_name=_("tags"), default=list, blank=True, size=MOST_TAGS
    )

    class Meta:
        abstract = True


class Note(TimeStamped):
    """What a person has to say of a campaign, once or later again."""

    held_under = ("campaign",)

    campaign = models.ForeignKey("Campaign", on_delete=models.CASCADE, related_name="notes")
    text = BoundedTextField(_("note"), max_length=LONGEST_NOTE)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="campaign_notes"
    )
    # Whose an archive says it is; "" of what was written here, or is known to have been.
    told_by = models.CharField(max_length=150, blank=True, default="", db_default="", editable=False)

    class Meta:
        ordering = ["created_at", "pk"]
        verbose_name = _("note")
        verbose_name_plural = _("notes")

    def __str__(self) -> str:
        return self.text[:60]
