"""Earlier editions of results."""

import json
import zlib
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _


class Superseded(models.Model):
    """An edition of a result that another took the place of, whole: `reading_z` is its reading's JSON, compressed.

    `reason` says why it was made ("" for the first); why it was superseded is the reason of the next one.
    """

    result = models.ForeignKey("results.Result", on_delete=models.CASCADE, related_name="earlier")
    edition = models.PositiveSmallIntegerField(_("edition"))
    reading_z = models.BinaryField()
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    made_at = models.DateTimeField()
    superseded_at = models.DateTimeField()

    class Meta:
        app_label = "results"
        ordering = ["edition"]
        constraints = [models.UniqueConstraint(fields=["result", "edition"], name="one_result_per_edition")]

    @property
    def reading(self) -> dict[str, Any]:
        """Return what was read: samples, series, requested, granted and observed values, flags, version."""
        reading: dict[str, Any] = json.loads(zlib.decompress(bytes(self.reading_z)))
        return reading
