"""How much a team has stored, and how much mail was sent."""

from django.db import models

from apps.accounts.models.teams import Team


class TeamUsage(models.Model):
    """The bytes that a team has stored, as they were counted last; what came since is added at the door."""

    team = models.OneToOneField(Team, on_delete=models.CASCADE, primary_key=True, related_name="usage")
    stored_bytes = models.PositiveBigIntegerField(default=0)
    counted_at = models.DateTimeField(null=True)


class MailUsage(models.Model):
    """The recipients to whom mail was sent in an hour, on account of a team, a person or the whole service.

    `account` is "team:3", "person:5", "asking:5" or "service": no key, for nothing that is deleted takes it along.
    """

    account = models.CharField(max_length=40)
    hour = models.DateTimeField()
    recipients = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "hour"], name="mail_usage_one_row_an_hour")]
        indexes = [models.Index(fields=["hour"], name="mail_usage_hour")]
