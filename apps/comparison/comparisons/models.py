"""Comparisons kept under a name."""

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.core.models import BoundedTextField
from apps.core.names import check_seen


class SavedView(TeamOwned):
    """A comparison kept under a name: the query of its address, which says all that the page shows."""

    name = models.CharField(_("name"), max_length=200, validators=[check_seen])
    query = BoundedTextField(_("view"), max_length=8000)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="saved_views"
    )

    class Meta:
        db_table = "results_savedview"
        ordering = ["name", "pk"]
        verbose_name = _("saved view")
        verbose_name_plural = _("saved views")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                name="saved_view_name_unique_in_team",
                violation_error_message=_("The team already has one of this name: choose another name."),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of the comparison."""
        return f"{reverse('comparison:compare')}?{self.query}"
