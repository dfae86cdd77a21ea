"""Imports under way and done, what each found in what was sent, and mappings of columns kept under a name."""

from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.campaigns.models import Campaign, Outliving, Trial
from apps.core.expiry import Expiring
from apps.core.models import KIB, BoundedJSONField
from apps.core.names import check_seen


class Import(Outliving, Expiring, TeamOwned):
    """Files that were sent, and what is to become of them; `groups` as `apps.archive.imports.groups` makes them.

    `uploads` [{"name", "size", "sha256"}], `choices` {group's key: {"name", "include", "roles" {role: [node ids]},
    "parameters" {name: value}, "alike", "file_system"}}: what is neither among these parameters nor among those that
    an output tells is not known, and `alike` says that it was the same in all of the group. A table has a `mapping`
    {"tool", "columns", "sheets" [names]}, and `sheet` {"sheets" [as `apps.archive.imports.tables.Head` has them]}:
    how each begins. `done` of `total` is the progress of the state it is in; a worker holds it from `claimed_at` on.
    `reason` says why it cannot go on, as a Message.
    """

    class Kind(models.TextChoices):
        OUTPUTS = "outputs", _("raw outputs")
        TABLE = "table", _("table")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting to be read")
        READING = "reading", _("being read")
        MAPPING = "mapping", _("columns to be named")
        READY = "ready", _("to be looked at")
        STORING = "storing", _("being stored")
        DONE = "done", _("imported")
        REFUSED = "refused", _("refused")
        EXPIRED = "expired", _("expired")

    WORK = "advance_import"
    # In these a worker has something to do.
    WORKING_STATES = (State.WAITING, State.READING, State.STORING)
    # In these a person has, and it expires if nobody does.
    UNDECIDED_STATES = (State.MAPPING, State.READY)

    name = models.CharField(_("name"), max_length=200, validators=[check_seen])
    kind = models.CharField(_("kind"), max_length=7, choices=Kind.choices)
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.WAITING)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="imports"
    )
    uploads = BoundedJSONField(most_bytes=128 * KIB, default=list)
    measured_on = models.DateField(_("measured on"), null=True, blank=True)
    sheet = BoundedJSONField(most_bytes=1024 * KIB, default=dict)
    mapping = BoundedJSONField(default=dict)
    groups = BoundedJSONField(most_bytes=256 * KIB, default=list)
    choices = BoundedJSONField(most_bytes=128 * KIB, default=dict)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True, blank=True)
    # Whether what cannot be read with these choices is left out, or stops everything.
    leave_out = models.BooleanField(default=False)
    # How often a worker was lost at the same place.
    stuck = models.PositiveSmallIntegerField(default=0)
    reason = BoundedJSONField(null=True, blank=True)
    campaign = models.ForeignKey(Campaign, on_delete=models.SET_NULL, null=True, blank=True, related_name="imports")

    class Meta:
        db_table = "results_import"
        ordering = ["-created_at", "-pk"]
        verbose_name = _("import")
        verbose_name_plural = _("imports")
        indexes = [
            models.Index(
                fields=["claimed_at"],
                name="imports_to_do",
                condition=Q(state__in=["waiting", "reading", "storing"]),
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def zone(self) -> ZoneInfo:
        """Return the time zone of whoever sent it: that of times that are written without one."""
        return ZoneInfo(self.created_by.timezone if self.created_by else "UTC")

    def get_absolute_url(self) -> str:
        """Return the address of the import's page."""
        return reverse("imports:detail", args=[self.pk])


class ImportItem(models.Model):
    """One output of a file, or one row of a table: what it tells, or why it is refused.

    `place` counts the outputs of a file from 1, or is the row's line. `told` {parameter: value} and `values` {metric:
    value} are in base units; `roles` {role: [node ids]} as far as it tells them. `reading` is what was read with all
    parameters known, kept until it is stored; `problem` why that failed. `digest` tells the same content again.
    """

    source = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    file = models.CharField(_("file"), max_length=300)
    place = models.PositiveIntegerField(default=1)
    group = models.CharField(max_length=400, blank=True)
    tool = models.CharField(_("tool"), max_length=50, blank=True)
    told = BoundedJSONField(most_bytes=1024 * KIB, default=dict)
    values = BoundedJSONField(most_bytes=1024 * KIB, default=dict)
    roles = BoundedJSONField(default=dict)
    repetition = models.PositiveIntegerField(null=True)
    measured_at = models.DateTimeField(null=True)
    digest = models.CharField(max_length=64, blank=True)
    # {"argv", "exit_code", "signal", "timed_out"} of an output, and what it printed, as zlib-compressed bytes.
    command = BoundedJSONField(default=dict)
    stdout_z = models.BinaryField(default=bytes)
    stderr_z = models.BinaryField(default=bytes)
    refusal = BoundedJSONField(null=True)
    problem = BoundedJSONField(null=True)
    reading = BoundedJSONField(most_bytes=131072 * KIB, null=True)
    is_duplicate = models.BooleanField(default=False)
    # Of what it is a duplicate, or what it became.
    trial = models.ForeignKey(Trial, on_delete=models.SET_NULL, null=True, blank=True, related_name="imported_from")

    class Meta:
        db_table = "results_importitem"
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["source", "position"], name="one_item_per_position")]
        indexes = [models.Index(fields=["digest"], name="imported_digests", condition=Q(trial__isnull=False))]


class ColumnMapping(TeamOwned):
    """What the columns of a table mean, kept under a name: `columns` as `apps.archive.imports.columns` reads them.

    `sheets` are the names of those of a workbook that are read; empty where tables have but one.
    """

    name = models.CharField(_("name"), max_length=100, validators=[check_seen])
    tool = models.CharField(_("tool"), max_length=50)
    columns = BoundedJSONField()
    sheets = BoundedJSONField(default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        db_table = "results_columnmapping"
        ordering = ["name"]
        verbose_name = _("mapping of columns")
        verbose_name_plural = _("mappings of columns")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                name="column_mapping_name_unique_in_team",
                violation_error_message=_("The team already has one of this name: choose another name."),
            )
        ]

    def __str__(self) -> str:
        return self.name
