"""Teams, who belongs to them, and what they own."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.models.names import Named, SkeletonField
from apps.core.models import TimeStamped

# Whether another team has it, one whose name is like it, or the service keeps it for itself, is not said.
_NOT_FREE = _("This name is not free: choose another.")


class Role(models.TextChoices):
    """What a member may do; each role may do all that the one before it may."""

    VIEWER = "viewer", _("Viewer (sees everything of the team)")
    OPERATOR = "operator", _("Operator (edits the inventory, defines and launches campaigns)")
    MANAGER = "manager", _("Manager (also enrols agents and manages members)")


class Team(TimeStamped, Named):
    """A group of people that owns an inventory and campaigns."""

    name = models.CharField(_("name"), max_length=100, unique=True, error_messages={"unique": _NOT_FREE})
    skeleton = SkeletonField(of="name", max_length=200, unique=True, editable=False, blank=True, default="")
    slug = models.SlugField(_("short name"), max_length=50, unique=True, error_messages={"unique": _NOT_FREE})
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="teams")

    taken = _NOT_FREE

    class Meta:
        ordering = ["name"]
        verbose_name = _("team")
        verbose_name_plural = _("teams")

    def __str__(self) -> str:
        return self.name


class Membership(TimeStamped):
    """One person's role in one team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("team"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="memberships",
        verbose_name=_("person"),
    )
    role = models.CharField(_("role"), max_length=10, choices=Role.choices, default=Role.VIEWER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="one_membership_per_team_and_user")]
        ordering = ["user__username"]
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class TeamOwned(TimeStamped):
    """Base of everything that belongs to a team."""

    team = models.ForeignKey(
        "accounts.Team", on_delete=models.PROTECT, related_name="%(class)ss", verbose_name=_("team")
    )

    class Meta:
        abstract = True
