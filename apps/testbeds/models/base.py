"""The base of what has a name in a team's inventory."""

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.core.models import BoundedTextField
from apps.core.names import check_seen


class HasPage(models.Model):
    """Something with a page of its own, named after its model."""

    class Meta:
        abstract = True

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse(f"testbeds:{self._meta.model_name}_detail", kwargs={"pk": self.pk})


class InventoryItem(HasPage, TeamOwned):
    """Something described once and referred to by name; names are unique within a team and kind."""

    name = models.CharField(_("name"), max_length=100, validators=[check_seen])
    notes = BoundedTextField(_("notes"), blank=True, max_length=10_000)

    class Meta:
        abstract = True
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                name="%(class)s_name_unique_in_team",
                violation_error_message=_("The team already has one of this name: choose another name."),
            )
        ]

    def __str__(self) -> str:
        return self.name
