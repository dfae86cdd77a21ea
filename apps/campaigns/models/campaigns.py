"""A campaign: a goal, its experiments, when it runs, and what happened."""

from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Case, Q, When
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.campaigns import brought_in
from apps.campaigns.brought_in import BroughtIn
from apps.campaigns.models.annotations import Tagged
from apps.campaigns.models.sharing import Shared
from apps.core.models import KIB, BoundedJSONField, BoundedTextField

LONGEST_GOAL = 10_000


class Campaign(Tagged, Shared):
    """A set of experiments carried out together.

    A campaign with a cron expression is a series: each date makes a clone (`series` points back) that is launched.
    One of published figures was never carried out here: `publication` {"case", "source", "conclusion", "remarks"}.
    An imported one was measured elsewhere, and its raw outputs or a table of its figures were read in here.
    """

    class Origin(models.TextChoices):
        MEASURED = "measured", _("measured here")
        PUBLISHED = "published", _("published figures")
        IMPORTED = "imported", _("imported")

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        SCHEDULED = "scheduled", _("scheduled")
        RUNNING = "running", _("running")
        PAUSED = "paused", _("paused")
        FINISHED = "finished", _("finished")
        CANCELLED = "cancelled", _("cancelled")

    class Overlap(models.TextChoices):
        SKIP = "skip", _("skip the date")
        QUEUE = "queue", _("start it all the same")

    # A campaign of these states has trials under way or may start some.
    OPEN_STATES = (State.RUNNING, State.PAUSED)
    # Those of these states may be deleted, for nothing will happen to them any more by itself.
    CLOSED_STATES = (State.DRAFT, State.FINISHED, State.CANCELLED)

    # Attached by queries.attach_progress, waits.attach_waits.
    progress: Any
    waits: Any
    # Attached where it is said who sees it: short names of teams.
    shared_with: list[str]

    name = models.CharField(_("name"), max_length=200)
    goal = BoundedTextField(_("goal"), blank=True, max_length=LONGEST_GOAL)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.DRAFT, db_index=True)
    start_at = models.DateTimeField(_("start at"), null=True, blank=True)
    cron = models.CharField(_("repeat (cron expression)"), max_length=100, blank=True)
    cron_timezone = models.CharField(_("time zone of the cron expression"), max_length=64, default="UTC")
    # What becomes of a date of a series when the last one carried out has not ended, and how many were skipped.
    overlap = models.CharField(
        _("if the last date has not ended"),
        max_length=5,
        choices=Overlap.choices,
        default=Overlap.SKIP,
        db_default=Overlap.SKIP,
    )
    skipped_dates = models.PositiveIntegerField(_("skipped dates"), default=0, db_default=0, editable=False)
    next_at = models.DateTimeField(_("next start"), null=True, blank=True)
    series = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="occurrences")
    cloned_from = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="clones")
    launched_at = models.DateTimeField(_("launched"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    # When conclusions were last drawn from the results; null on an ended campaign asks for it.
    analysed_at = models.DateTimeField(null=True, blank=True)
    origin = models.CharField(_("origin"), max_length=10, choices=Origin.choices, default=Origin.MEASURED)
    publication = BoundedJSONField(default=dict, blank=True, editable=False)
    # Of what came from an archive (`campaigns.brought_in`): the stored `message` that says so, whether it `agrees`
    # with what was deleted, `by` whom and `at` what time it came, and the `id` and maker (`made_by`) that it says.
    brought_in = BoundedJSONField(most_bytes=8 * KIB, default=dict, db_default={}, blank=True, editable=False)
    # Set when it is to be deleted: nobody sees it any more but as the share of `delete_trials` that is gone.
    deleting_at = models.DateTimeField(null=True, blank=True, editable=False)
    delete_trials = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name = _("campaign")
        verbose_name_plural = _("campaigns")
        indexes = [
            models.Index(fields=["next_at"], name="campaigns_due", condition=Q(state="scheduled")),
            models.Index(
                fields=["finished_at"],
                name="campaigns_to_analyse",
                condition=Q(analysed_at__isnull=True, state__in=["finished", "cancelled"]),
            ),
            GinIndex(fields=["tags"], name="campaigns_by_tag"),
            models.Index(fields=["deleting_at"], name="campaigns_to_delete", condition=Q(deleting_at__isnull=False)),
            models.Index(
                fields=["visibility"],
                name="campaigns_beyond_their_team",
                condition=Q(visibility__in=["shared", "public"]),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of the campaign's page."""
        return reverse("campaigns:campaign_detail", args=[self.pk])

    @property
    def origin_text(self) -> str:
        """Return from where its figures are; what only an archive says was measured was not measured here."""
        if self.is_told:
            return str(_("measured, as an archive says"))
        return str(self.get_origin_display())

    @property
    def arrival(self) -> BroughtIn | None:
        """Return who brought it in from an archive; None of what was made here."""
        return brought_in.read(self.brought_in)

    @property
    def is_archives_word(self) -> bool:
        """Return whether only an archive tells of it: it agrees with nothing that was known here."""
        return self.brought_in.get("agrees") is False

    @property
    def is_told(self) -> bool:
        """Return whether only an archive says that it was measured: it agrees with nothing that was known here."""
        return self.origin == self.Origin.MEASURED and self.brought_in.get("agrees") is False

    @classmethod
    def told(cls, path: str = "") -> Case:
        """Return `is_told` for queries of rows from which `path` ("experiment__campaign__") leads to a campaign."""
        told = Q(**{f"{path}origin": cls.Origin.MEASURED, f"{path}brought_in__agrees": False})
        return Case(When(told, then=True), default=False, output_field=models.BooleanField())

    @property
    def is_published(self) -> bool:
        """Return whether its figures were read from a publication, not measured here."""
        return self.origin == self.Origin.PUBLISHED

    def has_running_trials(self) -> bool:
        """Say whether a trial of it is being carried out."""
        return self.trials.filter(state="running").exists()


class Event(models.Model):
    """A line of a campaign's log: a msgid and its values, translated where it is shown."""

    class Level(models.TextChoices):
        INFO = "info", _("information")
        WARNING = "warning", _("warning")
        ERROR = "error", _("error")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="events")
    trial = models.ForeignKey("Trial", on_delete=models.CASCADE, null=True, blank=True, related_name="events")
    at = models.DateTimeField(auto_now_add=True)
    level = models.CharField(max_length=8, choices=Level.choices, default=Level.INFO)
    message = BoundedJSONField(most_bytes=16 * KIB)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["campaign", "-id"])]
