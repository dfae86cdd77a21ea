"""What is shared and cited: who may see it, under which licence, and the id that it keeps for ever."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.campaigns import permanent_ids


class Shared(TeamOwned):
    """Base of what has a permanent id and is seen by more or fewer than its team.

    `redacted` holds for the public only: strangers then see it without the names of nodes and without addresses.
    """

    class Visibility(models.TextChoices):
        PRIVATE = "private", _("Only whoever made it")
        TEAM = "team", _("The team")
        SHARED = "shared", _("The team, and the teams named below once they accept")
        PUBLIC = "public", _("Everybody, without signing in")

    class Licence(models.TextChoices):
        """Ids of the SPDX licence list."""

        CC_BY = "CC-BY-4.0", "CC-BY-4.0 (Creative Commons Attribution)"
        CC_BY_SA = "CC-BY-SA-4.0", "CC-BY-SA-4.0 (Creative Commons Attribution-ShareAlike)"
        CC_BY_NC = "CC-BY-NC-4.0", "CC-BY-NC-4.0 (Creative Commons Attribution-NonCommercial)"
        CC_ZERO = "CC0-1.0", "CC0-1.0 (Creative Commons Zero)"
        ODBL = "ODbL-1.0", "ODbL-1.0 (Open Database License)"
        ODC_BY = "ODC-By-1.0", "ODC-By-1.0 (Open Data Commons Attribution)"
        PDDL = "PDDL-1.0", "PDDL-1.0 (Open Data Commons Public Domain)"

    permanent_id = models.CharField(
        _("permanent id"), max_length=20, unique=True, default=permanent_ids.new, editable=False
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="%(class)ss"
    )
    visibility = models.CharField(
        _("who may see it"), max_length=7, choices=Visibility.choices, default=Visibility.TEAM
    )
    redacted = models.BooleanField(_("hide names of nodes and addresses from the public"), default=True)
    # Of what came from others: hidden wherever the names of the own team are.
    foreign_names = models.ForeignKey(
        "campaigns.ForeignNames", on_delete=models.PROTECT, null=True, blank=True, editable=False, related_name="+"
    )
    licence = models.CharField(_("licence"), max_length=20, choices=Licence.choices, blank=True)

    # Those in which others than its team may see it.
    BEYOND_TEAM = (Visibility.SHARED, Visibility.PUBLIC)

    class Meta:
        abstract = True

    @property
    def is_beyond_team(self) -> bool:
        """Say whether others than its team may see it."""
        return self.visibility in self.BEYOND_TEAM

    @property
    def is_open(self) -> bool:
        """Say whether everybody sees it with its names."""
        return self.visibility == self.Visibility.PUBLIC and not self.redacted
