"""Schedules of reports, and each time that one was due."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import TeamOwned
from apps.campaigns.models import Campaign
from apps.core.models import KIB, BoundedArrayField, BoundedJSONField
from apps.core.names import check_seen


class Schedule(TeamOwned):
    """Dates at which a management report, or that of a campaign series' latest campaign, is frozen and delivered.

    It acts for whoever saved it last, with the rights that they have at the time.
    """

    name = models.CharField(_("name"), max_length=200, validators=[check_seen])
    report = models.ForeignKey(
        "reports.Report",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="schedules",
        verbose_name=_("management report"),
    )
    series = models.ForeignKey(
        Campaign,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="report_schedules",
        verbose_name=_("campaign series"),
    )
    language = models.CharField(_("language"), max_length=5, choices=settings.LANGUAGES)
    cron = models.CharField(_("dates (cron expression)"), max_length=100)
    cron_timezone = models.CharField(_("time zone of the cron expression"), max_length=64, default="UTC")
    is_active = models.BooleanField(_("active"), default=True)
    next_at = models.DateTimeField(_("next date"), null=True, blank=True)
    formats = BoundedArrayField(
        models.CharField(max_length=5), most=20, most_bytes=KIB, verbose_name=_("files"), default=list, blank=True
    )
    recipients = BoundedArrayField(
        models.EmailField(), most=100, most_bytes=30 * KIB, verbose_name=_("mailed to"), default=list, blank=True
    )
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="report_schedules"
    )

    class Meta:
        app_label = "reports"
        ordering = ["name", "pk"]
        verbose_name = _("report schedule")
        verbose_name_plural = _("report schedules")
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="report_schedule_name_unique_in_team"),
            models.CheckConstraint(
                condition=Q(report__isnull=True) ^ Q(series__isnull=True), name="schedule_is_of_one_report"
            ),
        ]
        indexes = [models.Index(fields=["next_at"], name="report_schedules_due", condition=Q(is_active=True))]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of the schedule's page."""
        return reverse("schedules:schedule_detail", args=[self.pk])


class Delivery(models.Model):
    """One time that a schedule was due; a worker takes it on at `look_at`, step by step.

    It holds it from `claimed_at` on. `note` is a message on what went wrong, or why there was nothing to deliver;
    `mailed` who has it already.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RENDERING = "rendering", _("files in progress")
        DONE = "done", _("delivered")
        LIMITED = "limited", _("held up: mails are used up")
        UNMAILED = "unmailed", _("mailed to nobody")
        SKIPPED = "skipped", _("nothing new")
        FAILED = "failed", _("failed")

    OPEN_STATES = (State.WAITING, State.RENDERING, State.LIMITED)

    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="deliveries")
    due_at = models.DateTimeField(_("due"))
    state = models.CharField(_("state"), max_length=9, choices=State.choices, default=State.WAITING)
    edition = models.ForeignKey(
        "reports.Edition", on_delete=models.PROTECT, null=True, blank=True, related_name="deliveries"
    )
    note = BoundedJSONField(null=True, blank=True)
    mailed = BoundedArrayField(models.EmailField(), default=list, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    look_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        app_label = "reports"
        ordering = ["-due_at", "-pk"]
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        constraints = [models.UniqueConstraint(fields=["schedule", "due_at"], name="one_delivery_a_date")]
        indexes = [
            models.Index(
                fields=["look_at"], name="deliveries_open", condition=Q(state__in=["waiting", "rendering", "limited"])
            )
        ]

    def __str__(self) -> str:
        return f"{self.schedule} · {self.due_at:%Y-%m-%d %H:%M}"

    @property
    def is_open(self) -> bool:
        """Return whether something is still to be done."""
        return self.state in self.OPEN_STATES

    @property
    def is_moving(self) -> bool:
        """Return whether it goes on within minutes, not on the next day."""
        return self.is_open and self.state != self.State.LIMITED

    @property
    def shown_state(self) -> str:
        """Return the state whose colour the badge has."""
        return _COLOURS[self.State(self.state)]


_COLOURS = {
    Delivery.State.WAITING: "pending",
    Delivery.State.RENDERING: "running",
    Delivery.State.DONE: "finished",
    Delivery.State.LIMITED: "pending",
    Delivery.State.UNMAILED: "cancelled",
    Delivery.State.SKIPPED: "cancelled",
    Delivery.State.FAILED: "failed",
}
