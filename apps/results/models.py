"""What a parser read from a run's raw output."""

from typing import Any, Self

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.bench import bounds
from apps.campaigns.models import Experiment, Run, Trial
from apps.core.models import KIB, BoundedArrayField, BoundedJSONField
from apps.results import packed_arrays
from apps.results.corrections.models import Superseded

__all__ = ["Result", "Sample", "Series", "StageTiming", "Superseded"]


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
    requested = BoundedJSONField(default=dict)
    granted = BoundedJSONField(default=dict)
    observed = BoundedJSONField(default=dict)
    flags = BoundedJSONField(most_bytes=32 * KIB, default=list)
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
    """One figure of one run: a metric and its value in the metric's base unit.

    It `counts` unless its trial warmed up, or a flag of its result makes this metric invalid (a person's mark is
    one). The database keeps that up, whoever stores samples or changes flags; whoever reckons reads what counts.
    """

    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="samples")
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="samples")
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="samples")
    metric = models.CharField(max_length=50)
    value = models.FloatField()
    counts = models.BooleanField(default=True, db_default=True, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["result", "metric"], name="one_sample_per_metric")]
        indexes = [
            models.Index(
                fields=["experiment", "metric"], include=["trial", "value", "counts"], name="samples_by_metric"
            )
        ]


class Series(models.Model):
    """A metric over time within one run, e.g. a stream's rate each second; `times` in seconds from its start.

    Of one that retention packed the arrays are empty in the database and whole in each object that is read from it.
    """

    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="series")
    metric = models.CharField(max_length=50)
    stream = models.CharField(max_length=50, blank=True)
    unit = models.CharField(max_length=10)
    times = BoundedArrayField(models.FloatField(), most=bounds.MOST_POINTS)
    values = BoundedArrayField(models.FloatField(), most=bounds.MOST_POINTS)
    packed_z = models.BinaryField(null=True, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["result", "metric", "stream"], name="one_series_per_stream")]
        verbose_name_plural = "series"

    @classmethod
    def from_db(cls, *args: Any, **kwargs: Any) -> Self:
        """Return the row, with its arrays unpacked."""
        row = super().from_db(*args, **kwargs)
        packed = row.__dict__.get("packed_z")
        if packed:
            row.times, row.values = packed_arrays.unpack_arrays(bytes(packed))
        return row


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
