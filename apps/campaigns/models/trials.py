"""Trials (one point, one repetition), the lanes they queue in, and the runs that carry them out."""

from typing import Any

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.campaigns.models.campaigns import Campaign
from apps.campaigns.models.experiments import Experiment
from apps.core.models import KIB, BoundedArrayField, BoundedJSONField, TimeStamped


class Lane(models.Model):
    """The trials of an experiment that need the same nodes, and so must queue for the same resources.

    `roles` {role: [node ids]}; `resources` ["node:3", "link:7", ...] are what one run of the lane reserves.
    `addresses` [{node id: address}] are those at which its nodes were measured, the first first.
    """

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="lanes")
    roles = BoundedJSONField(most_bytes=256 * KIB)
    resources = BoundedArrayField(models.CharField(max_length=40), most=100_000, most_bytes=4096 * KIB)
    addresses = BoundedJSONField(most_bytes=256 * KIB, default=list)

    class Meta:
        ordering = ["id"]
        # A look for what may start reads the lanes of nodes that are there and free, however many others wait. No
        # list of what is not sorted in yet: each look would go through that.
        indexes = [GinIndex(fields=["resources"], name="lanes_by_resource", fastupdate=False)]


class Trial(TimeStamped):
    """One point of the sweep, one repetition."""

    # Attached by waits.attach_trial_waits.
    wait: Any

    class State(models.TextChoices):
        PENDING = "pending", _("waiting")
        RUNNING = "running", _("running")
        SUCCEEDED = "succeeded", pgettext_lazy("trial", "measured")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("not measured")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="trials")
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="trials")
    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="trials")
    position = models.PositiveIntegerField()
    point = models.PositiveIntegerField(_("point"))
    repetition = models.PositiveSmallIntegerField(_("repetition"))
    is_warmup = models.BooleanField(_("warm-up"), default=False)
    parameters = BoundedJSONField(_("parameters"), most_bytes=16 * KIB)
    estimate_s = models.FloatField(_("estimated duration"), default=0)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    # The experiment's policy, raised each time that failed trials are run again.
    attempts_allowed = models.PositiveSmallIntegerField(_("attempts at most"), default=1)
    not_before = models.DateTimeField(null=True, blank=True)
    # Why the last attempt failed, as `apps.bench.toolkit.ToolFailure.as_json` writes it.
    reason = BoundedJSONField(most_bytes=12 * KIB, null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    # Set by a person who does not believe it: its figures are then shown, but in no statistics.
    invalid_at = models.DateTimeField(_("marked invalid"), null=True, blank=True, editable=False)
    invalid_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        editable=False,
        db_index=False,
    )
    invalid_reason = models.CharField(
        _("reason"), max_length=500, blank=True, default="", db_default="", editable=False
    )
    # Who marked it as only an archive says; "" of what was marked here, or is known to have been.
    invalid_told_by = models.CharField(max_length=150, blank=True, default="", db_default="", editable=False)

    class Meta:
        ordering = ["position"]
        verbose_name = _("trial")
        verbose_name_plural = _("trials")
        constraints = [
            models.UniqueConstraint(fields=["experiment", "position"], name="one_trial_per_position"),
        ]
        indexes = [
            models.Index(fields=["lane", "position"], name="pending_trials", condition=Q(state="pending")),
            models.Index(fields=["campaign", "state"]),
            models.Index(fields=["experiment", "point"]),
        ]


class Run(TimeStamped):
    """One attempt at a trial. `plan` is the tool's plan as JSON, `stage` the one under way."""

    class State(models.TextChoices):
        STARTING = "starting", _("starting")
        RUNNING = "running", _("running")
        SUCCEEDED = "succeeded", _("succeeded")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    OPEN_STATES = (State.STARTING, State.RUNNING)

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="runs")
    # The trial's: a list of a team's runs is counted without its trials.
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="runs", db_index=False)
    attempt = models.PositiveSmallIntegerField(_("attempt"))
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.STARTING)
    plan = BoundedJSONField(most_bytes=512 * KIB, null=True, blank=True)
    stage = models.SmallIntegerField(default=-1)
    stopping = models.BooleanField(default=False)
    # How often a worker began to read what was printed, and did not come to an end.
    readings = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    reason = BoundedJSONField(most_bytes=16 * KIB, null=True, blank=True)
    started_at = models.DateTimeField(_("started"), default=timezone.now, editable=False)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        ordering = ["attempt"]
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        constraints = [
            models.UniqueConstraint(fields=["trial", "attempt"], name="one_run_per_attempt"),
            models.UniqueConstraint(
                fields=["trial"],
                name="one_open_run_per_trial",
                condition=Q(state__in=["starting", "running"]),
            ),
            models.UniqueConstraint(fields=["trial"], name="one_success_per_trial", condition=Q(state="succeeded")),
        ]
        indexes = [
            models.Index(fields=["state"], name="open_runs", condition=Q(state__in=["starting", "running"])),
            models.Index(fields=["experiment", "state"], name="runs_by_experiment"),
            # In this order retention sees to them.
            models.Index(fields=["ended_at", "id"], name="runs_by_end", condition=Q(ended_at__isnull=False)),
            # What was measured elsewhere, or before, and came later.
            models.Index(
                fields=["created_at", "id"], name="runs_by_arrival", condition=Q(ended_at__lt=F("created_at"))
            ),
        ]
