"""Offers of membership."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.models.teams import Role, Team
from apps.core.models import TimeStamped


class Invitation(TimeStamped):
    """What a team offers to whoever has a username, whether or not there is such an account.

    One that was declined is hidden from the person, not from the team: it tells nobody that somebody is there. It
    is remembered for SPARED even if it was withdrawn, so that the same team cannot ask again at once.
    """

    # A person may accept it for so long.
    LASTS = timedelta(days=30)
    # Who declined sees no other invitation of the same team for so long.
    SPARED = timedelta(days=7)

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations", verbose_name=_("team"))
    username = models.CharField(_("Username"), max_length=150, db_index=True, validators=[UnicodeUsernameValidator()])
    role = models.CharField(_("role"), max_length=10, choices=Role.choices, default=Role.VIEWER)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    declined_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "username"], name="one_invitation_per_team_and_username")
        ]
        ordering = ["-created_at", "-pk"]
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")

    def __str__(self) -> str:
        return f"{self.username} ({self.role})"
