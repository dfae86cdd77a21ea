"""What is offered to other teams: nobody's figures come to another team before it accepts them."""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core.models import TimeStamped


class Share(TimeStamped):
    """A campaign offered to whichever team has a short name, whether or not there is such a team.

    It is for the team that has the name when it is offered: one that is made later has nothing of it. Only once it is
    accepted does it count, for the `team` that accepted. One that was declined, or that no team can accept, looks to
    the offering team as if open.
    """

    class State(models.TextChoices):
        OFFERED = "offered", _("offered")
        ACCEPTED = "accepted", _("accepted")
        DECLINED = "declined", _("declined")

    campaign = models.ForeignKey("Campaign", on_delete=models.CASCADE, related_name="shares")
    name = models.SlugField(_("short name"), max_length=50)
    team = models.ForeignKey("accounts.Team", on_delete=models.CASCADE, null=True, blank=True, related_name="shares")
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.OFFERED)
    offered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="one_share_per_campaign_and_team"),
            models.CheckConstraint(
                condition=~models.Q(state="accepted") | models.Q(team__isnull=False),
                name="who_accepted_a_share_is_known",
            ),
        ]
        ordering = ["-created_at", "-pk"]
        verbose_name = _("offer")
        verbose_name_plural = _("offers")

    def __str__(self) -> str:
        return f"{self.campaign} → {self.name}"

    @property
    def is_accepted(self) -> bool:
        """Return whether the other team accepted it: all that whoever offers is told."""
        return self.state == self.State.ACCEPTED


class SparedTeam(models.Model):
    """A short name whose team declined an offer of `team`: until then it is shown no other one of that team."""

    # It outlives the offer and its campaign: deleting these does not make room for the next.
    LASTS = timedelta(days=7)

    team = models.ForeignKey("accounts.Team", on_delete=models.CASCADE, related_name="+")
    name = models.SlugField(max_length=50)
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_spared_team_per_name")]

    def __str__(self) -> str:
        return f"{self.name} ({self.until:%Y-%m-%d})"
