"""What a parser read from a run's raw output."""

from typing import Any, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.campaigns.models import Campaign, Experiment, Run, Trial
from apps.results.corrections.models import Superseded
from apps.results.imports.models import ColumnMapping, Import, ImportItem
from apps.results.landing.models import FormerName
from apps.results.retention import packing
from apps.results.retention.models import RetentionRule
from apps.results.search.models import SavedSearch, SearchEnd, SearchEntry, SearchMetric, SearchValue

__all__ = [
    "ChangePoint",
    "ColumnMapping",
    "FormerName",
    "Import",
    "ImportItem",
    "Result",
    "RetentionRule",
    "Sample",
    "SavedSearch",
    "SavedView",
    "SearchEnd",
    "SearchEntry",
    "SearchMetric",
    "SearchValue",
    "Series",
    "StageTiming",
    "Superseded",
]


class Result(models.Model):
    """The reading of one successful run: requested, granted and observed values, flags, and the tool's version.

    A reading never changes: one that was read again is another `edition`, and the `earlier` ones are kept. Only the
    flags tell, beside the judges' doubts, whether a person marked the trial invalid.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="result")
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="results")
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="results")
    tool = models.CharField(max_length=50)
    tool_version = models.CharField(_("tool version"), max_length=100, blank=True)
    requested = models.JSONField(default=dict)
    granted = models.JSONField(default=dict)
    observed = models.JSONField(default=dict)
    flags = models.JSONField(default=list)
    start_skew_s = models.FloatField(_("skew of start"), null=True, blank=True)
    recorded_at = models.DateTimeField(default=timezone.now, editable=False)
    edition = models.PositiveSmallIntegerField(_("edition"), default=1, db_default=1)
    # Of the second edition and later ones: why it was made, and when.
    edition_reason = models.CharField(_("reason"), max_length=500, blank=True, default="", db_default="")
    edition_at = models.DateTimeField(null=True, blank=True)
    # When retention took them away.
    series_dropped_at = models.DateTimeField(null=True, blank=True)
    output_dropped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("result")
        verbose_name_plural = _("results")
        indexes = [models.Index(fields=["recorded_at", "id"], include=["experiment"], name="results_by_age")]


class Sample(models.Model):
    """One figure of one run: a metric and its value in the metric's base unit."""

    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="samples")
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="samples")
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="samples")
    metric = models.CharField(max_length=50)
    value = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["result", "metric"], name="one_sample_per_metric")]
        indexes = [
            models.Index(fields=["experiment", "metric"], include=["trial", "value"], name="samples_by_metric")
        ]


class Series(models.Model):
    """A metric over time within one run, e.g. a stream's rate each second; `times` in seconds from its start.

    Of one that retention packed the arrays are empty in the database and whole in each object that is read from it.
    """

    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="series")
    metric = models.CharField(max_length=50)
    stream = models.CharField(max_length=50, blank=True)
    unit = models.CharField(max_length=10)
    times = ArrayField(models.FloatField())
    values = ArrayField(models.FloatField())
    packed_z = models.BinaryField(null=True, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["result", "metric", "stream"], name="one_series_per_stream")]
        verbose_name_plural = "series"

    @classmethod
    def from_db(cls, *args: Any, **kwargs: Any) -> Self:
        """Return the row, with its arrays unpacked."""
        found = super().from_db(*args, **kwargs)
        packed = found.__dict__.get("packed_z")
        if packed:
            found.times, found.values = packing.unpack_arrays(bytes(packed))
        return found


class StageTiming(models.Model):
    """How a stage with a common start began: skew between its commands' starts, and how much of the time all ran.

    `late_s` is how long after the planned instant the last one started (negative if a clock is off), `overlap` a
    share; both are in server time, of which each node knows `clock_error_s` at worst. Failed runs have them, too.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="timings")
    stage = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=50)
    commands = models.PositiveSmallIntegerField()
    started = models.PositiveSmallIntegerField()
    skew_s = models.FloatField(null=True)
    late_s = models.FloatField(null=True)
    overlap = models.FloatField(null=True)
    clock_error_s = models.FloatField(null=True)

    class Meta:
        ordering = ["stage"]
        constraints = [models.UniqueConstraint(fields=["run", "stage"], name="one_timing_per_stage")]

    @property
    def overlap_percent(self) -> float | None:
        """Return the overlap as it is shown."""
        return None if self.overlap is None else round(100 * self.overlap, 1)


class SavedView(TeamOwned):
    """A comparison kept under a name: the query of its address, which says all that the page shows."""

    name = models.CharField(_("name"), max_length=200)
    query = models.TextField(_("view"), max_length=8000)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="saved_views"
    )

    class Meta:
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


class ChangePoint(TeamOwned):
    """What a person says of a change of level in a history: that it is real, why it happened, or that it is none.

    `key` names the history (`apps.results.history.series.Subject.key`); `campaign` is the first of the new level,
    `before` and `after` are the levels as they were found when it was decided.
    """

    class State(models.TextChoices):
        CONFIRMED = "confirmed", _("confirmed")
        EXPLAINED = "explained", _("explained")
        DISMISSED = "dismissed", _("dismissed")

    key = models.CharField(max_length=40)
    tool = models.CharField(_("tool"), max_length=50)
    metric = models.CharField(_("metric"), max_length=50)
    roles = models.JSONField()
    parameters = models.JSONField()
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="change_points")
    before = models.FloatField()
    after = models.FloatField()
    state = models.CharField(_("state"), max_length=10, choices=State.choices)
    explanation = models.TextField(_("explanation"), blank=True, max_length=2000)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="change_points"
    )
    decided_at = models.DateTimeField()

    class Meta:
        ordering = ["decided_at", "pk"]
        verbose_name = _("change-point")
        verbose_name_plural = _("change-points")
        constraints = [
            models.UniqueConstraint(fields=["team", "key", "campaign"], name="one_decision_per_change_point")
        ]
