"""Addresses that are mailed, and what their owners said to it."""

from django.db import models

from apps.core.models import BoundedArrayField, TimeStamped

# No address in the normal form is longer.
LONGEST_ADDRESS = 600


class MailAddress(TimeStamped):
    """A mail address (in its normal form), and whose mails its owner stopped.

    `refused_at` is when all were stopped last, `refused_by` are the teams whose links did that. Teams are numbers,
    for a stop holds whatever becomes of a team.
    """

    address = models.EmailField(unique=True, max_length=LONGEST_ADDRESS)
    refused_at = models.DateTimeField(null=True)
    refused_by = BoundedArrayField(models.BigIntegerField(), most=100_000, default=list, blank=True)
    refused_teams = BoundedArrayField(models.BigIntegerField(), most=100_000, default=list, blank=True)

    def __str__(self) -> str:
        return self.address


class MailConsent(TimeStamped):
    """What the owner of an address said to the mails of one team (a number, so that its end makes no room).

    `asking_since` is when a mail that asks began to be sent, `asked_at` when the mail server had taken the last one.
    """

    address = models.ForeignKey(MailAddress, on_delete=models.CASCADE, related_name="consents")
    team = models.BigIntegerField()
    asking_since = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["address", "team"], name="mail_consent_one_row_a_team")]

    def __str__(self) -> str:
        return f"{self.address}: {self.team}"
