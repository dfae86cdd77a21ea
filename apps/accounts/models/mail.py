"""Addresses that are mailed, and what their owners said to it."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.core.models import TimeStamped


class MailAddress(TimeStamped):
    """A mail address (in small letters), whether its owner confirmed that they want mail, and whose they stopped.

    `asked_at` is when they were asked last. `is_claimed`: a person wrote it into their own profile, which proves
    nothing. `refused_teams` are numbers, for a stop holds whatever becomes of a team.
    """

    address = models.EmailField(unique=True)
    is_claimed = models.BooleanField(default=False)
    asked_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True)
    refused_at = models.DateTimeField(null=True)
    refused_teams = ArrayField(models.BigIntegerField(), default=list, blank=True)

    def __str__(self) -> str:
        return self.address
