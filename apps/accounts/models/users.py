"""People who sign in."""

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.models.mail import LONGEST_ADDRESS
from apps.accounts.models.names import Named, SkeletonField
from apps.core import moments
from apps.core.models import LineField


def validate_timezone(value: str) -> None:
    """Raise ValidationError for a name that is no IANA time zone."""
    if value not in moments.zones():
        raise ValidationError(
            _("“%(value)s” is no time zone; use a name such as Asia/Seoul."), params={"value": value}
        )


class User(AbstractUser, Named):
    """A person; what they may do comes from their memberships of teams."""

    class Theme(models.TextChoices):
        AUTO = "auto", _("As the device")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    first_name = LineField(_("first name"), max_length=150, blank=True)
    last_name = LineField(_("last name"), max_length=150, blank=True)
    skeleton = SkeletonField(of="username", max_length=200, unique=True, editable=False, blank=True, default="")
    # The address that they wrote themselves last, in its normal form: it proves nothing until it is confirmed.
    claimed_email = models.CharField(max_length=LONGEST_ADDRESS, blank=True, default="", editable=False)
    # In which team new work lands when none is named; without a choice the one that they joined first.
    default_team = models.ForeignKey(
        "accounts.Team",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("team for new work"),
    )
    timezone = models.CharField(_("time zone"), max_length=64, default="UTC", validators=[validate_timezone])
    language = models.CharField(_("language"), max_length=8, blank=True, default="")
    theme = models.CharField(_("theme"), max_length=8, choices=Theme.choices, default=Theme.AUTO)

    taken = _("This looks like the username of another person, “%(name)s”: choose one that nobody takes for it.")
