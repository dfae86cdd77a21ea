"""How much a team has stored."""

from django.db import models

from apps.accounts.models.teams import Team


class TeamUsage(models.Model):
    """The bytes that a team has stored, as they were counted last; what came since is added at the door."""

    team = models.OneToOneField(Team, on_delete=models.CASCADE, primary_key=True, related_name="usage")
    stored_bytes = models.PositiveBigIntegerField(default=0)
    counted_at = models.DateTimeField(null=True)
