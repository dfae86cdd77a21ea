"""What stays when the campaign that it tells of is deleted."""

from collections.abc import Iterable
from typing import Any

from django.db import models


class Outliving(models.Model):
    """Base of rows with a `campaign` that is null once it is deleted: `of_campaign` is its permanent id, for ever.

    By that its tombstone tells who may see the row (`queries.visibility.told_to`); "" is no campaign.
    """

    campaign: Any
    of_campaign = models.CharField(
        max_length=20, blank=True, default="", db_default="", db_index=True, editable=False
    )

    class Meta:
        abstract = True

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        """Keep the permanent id of the campaign with it."""
        if self.campaign is not None and self.of_campaign != self.campaign.permanent_id:
            self.of_campaign = self.campaign.permanent_id
            update_fields = None if update_fields is None else {*update_fields, "of_campaign"}
        super().save(*args, update_fields=update_fields, **kwargs)
