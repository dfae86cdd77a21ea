"""The base of every model."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class TimeStamped(models.Model):
    """Adds when a row was made and last changed."""

    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        abstract = True
