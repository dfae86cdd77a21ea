"""Tools that teams define, in versions that never change."""

from typing import Any

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.core.models import KIB, BoundedJSONField, Limited, LineField
from apps.core.names import check_seen

# Slugs of versions end so: no tool that comes with the service has a dot in its slug.
VERSION_MARK = ".v"
# Of a tool's versions: an archive cannot say a number after which none is left.
MOST_VERSIONS = 9999
# A version that an archive numbers higher is not taken over: the team goes on from it.
LAST_TAKEN_OVER = MOST_VERSIONS // 2
# Whether another team has it, or the service, is not said.
NOT_FREE = _("This short name is not free: choose another.")


class TeamTool(TeamOwned):
    """A tool that a team defined; `slug` is unique everywhere, for results know a tool by its slug alone.

    `name` and `summary` are those of the latest version that waits for no manager, if there is one.
    """

    slug = models.CharField(
        _("short name"),
        max_length=40,
        unique=True,
        validators=[
            RegexValidator(
                r"\A[a-z][a-z0-9]*(-[a-z0-9]+)*\Z",
                _("Use small letters, digits and single hyphens, and begin with a letter, for example site-stream."),
            )
        ],
        error_messages={"unique": NOT_FREE},
    )
    name = models.CharField(_("name"), max_length=100, validators=[check_seen])
    summary = LineField(_("summary"), max_length=200, blank=True)
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)

    class Meta:
        ordering = ["name", "id"]
        verbose_name = _("tool")
        verbose_name_plural = _("tools")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("toolbox:tool_detail", kwargs={"pk": self.pk})


class ToolVersion(Limited):
    """One version of a tool, which never changes: results refer to it for ever."""

    tool = models.ForeignKey(TeamTool, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(_("version"))
    # As `apps.bench.custom.Definition.as_json` writes it.
    definition = BoundedJSONField(_("definition"), most_bytes=128 * KIB)
    note = LineField(_("what is new"), max_length=300, blank=True)
    # It came with an archive: its results are read with it, and it runs nothing until a manager takes it over.
    awaits_manager = models.BooleanField(_("waits for a manager"), default=False, db_default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="tool_versions"
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["tool", "-number"]
        constraints = [models.UniqueConstraint(fields=["tool", "number"], name="one_version_of_a_number")]
        verbose_name = _("tool version")
        verbose_name_plural = _("tool versions")

    def __str__(self) -> str:
        return self.slug

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new version; one that is stored stays as it is (the database refuses a change, too)."""
        if self.pk is not None:
            raise TypeError("a version of a tool never changes: make a new one")
        super().save(*args, **kwargs)

    @property
    def slug(self) -> str:
        """Return the slug by which experiments and results know this version, such as "site-stream.v2"."""
        return f"{self.tool.slug}{VERSION_MARK}{self.number}"


class ToolEvent(models.Model):
    """A line of a tool's log: who did what to it, as a msgid and its values."""

    tool = models.ForeignKey(TeamTool, on_delete=models.CASCADE, related_name="events")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)
    message = BoundedJSONField()

    class Meta:
        ordering = ["-id"]
