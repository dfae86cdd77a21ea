"""Jobs: one command on one node, and what it printed."""

import shlex
import uuid

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.agents import bounds
from apps.agents.models.agents import FactSnapshot
from apps.core.models import KIB, BoundedArrayField, BoundedJSONField, BoundedTextField, TimeStamped
from apps.testbeds.models import Node


class Job(TimeStamped):
    """One argv on one node. `run_ref` is the caller's own number, which agents never look at.

    Times are server times in UTC (the agent's clock corrected by its measured offset).
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        DELIVERED = "delivered", _("delivered")
        RUNNING = "running", _("running")
        READY = "ready", _("ready")
        ENDED = "ended", _("ended")
        LOST = "lost", _("lost")

    # What was measured rests on it: nobody deletes it by itself.
    is_record = True
    OPEN_STATES = (State.QUEUED, State.DELIVERED, State.RUNNING, State.READY)
    # The times by which it is judged how long an open job has been under way. (`start_at` is part of its command.)
    TIMES_UNDER_WAY = ("delivered_at", "started_at")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Indexed below, in the order in which a node's jobs are listed.
    node = models.ForeignKey(
        Node, on_delete=models.PROTECT, related_name="jobs", verbose_name=_("node"), db_index=False
    )
    run_ref = models.BigIntegerField(null=True, blank=True, db_index=True)
    role = models.CharField(_("role"), max_length=32)
    stage = models.PositiveSmallIntegerField(_("stage"), default=0)
    argv = BoundedArrayField(models.CharField(max_length=4096), most=10_000, verbose_name=_("command"))
    background = models.BooleanField(default=False)
    ready_pattern = models.CharField(max_length=1000, blank=True)
    # A fault of an optional job does not break its run.
    optional = models.BooleanField(default=False)
    # [name, text] of what is put into the work folder, names of what is given back, [name, value] of variables.
    files = BoundedJSONField(most_bytes=16384 * KIB, default=list, blank=True)
    collect = BoundedArrayField(models.CharField(max_length=100), default=list, blank=True)
    environment = BoundedJSONField(default=list, blank=True)
    time_limit_s = models.FloatField()
    # Of each of stdout and stderr.
    output_limit_bytes = models.PositiveBigIntegerField(default=16 * 1024 * 1024)
    start_at = models.DateTimeField(null=True, blank=True)

    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    delivered_at = models.DateTimeField(null=True, blank=True)
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    ready_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    exit_code = models.IntegerField(_("exit status"), null=True, blank=True)
    signal = models.IntegerField(_("signal"), null=True, blank=True)
    timed_out = models.BooleanField(_("timed out"), default=False)
    # Why there was no process to speak of: not-allowed, not-found, not-started, stopped, agent-restarted, agent-lost,
    # outcome-gone, node-trouble, server-clock-set, server-unheard.
    fault = models.CharField(_("fault"), max_length=32, blank=True)
    fault_detail = BoundedTextField(blank=True, max_length=4000)
    clock_offset_s = models.FloatField(_("clock offset"), null=True, blank=True)
    clock_error_s = models.FloatField(null=True, blank=True)
    facts = models.ForeignKey(FactSnapshot, on_delete=models.SET_NULL, null=True, blank=True, related_name="jobs")

    # The agent's process that took it, at the poll of this number; none for a program of an earlier version.
    instance = models.UUIDField(null=True, blank=True, editable=False)
    taken_at_poll = models.BigIntegerField(default=0, db_default=0, editable=False)
    # How often it was handed out: a lost answer is made good, but not without end.
    hand_outs = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    # Of a job whose agent was lost: until when its program may have run on, at most until its agent's own time limit.
    may_run_until = models.DateTimeField(null=True, blank=True, editable=False)
    # When somebody, without proof, took it for ended: what it used is given away again, and such figures are flagged.
    presumed_ended_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Of a job that is handed out: those of the addresses it names that are nodes' own, and the key of its team. Not
    # stored.
    inventory: list[str]
    team: str

    class Meta:
        ordering = ["stage", "created_at"]
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        indexes = [
            models.Index(fields=["-created_at", "id"], include=["node"], name="jobs_by_age"),
            models.Index(fields=["started_at", "id"], include=["node"], name="jobs_by_start"),
            models.Index(fields=["node", "-created_at", "id"], name="jobs_of_node_by_age"),
            models.Index(
                fields=["node"],
                name="open_jobs_by_node",
                condition=Q(state__in=["queued", "delivered", "running", "ready"]),
            ),
            models.Index(
                fields=["node", "may_run_until"],
                name="leftovers_by_node",
                condition=Q(may_run_until__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.command_line

    def get_absolute_url(self) -> str:
        """Return the address of the page that lists the node's jobs."""
        return reverse("agents:detail", kwargs={"pk": self.node_id})

    @property
    def command_line(self) -> str:
        """Return the command as one would type it into a shell."""
        return shlex.join(self.argv)


class JobOutput(models.Model):
    """What a job printed, byte for byte up to its output limit, as compressed bytes (`apps.agents.compression`).

    `stdout_bytes` and `stderr_bytes` count all that was printed, also what was cut off.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, primary_key=True, related_name="output")
    stdout_z = models.BinaryField()
    stderr_z = models.BinaryField()
    stdout_bytes = models.PositiveBigIntegerField(default=0)
    stderr_bytes = models.PositiveBigIntegerField(default=0)
    truncated = models.BooleanField(default=False)
    # Whether the agent had to leave out the middle, as the whole did not get through to the service.
    cut_on_way = models.BooleanField(default=False, db_default=False)
    # What the agent read from the kernel meanwhile, as compressed JSON; empty if it did not.
    telemetry_z = models.BinaryField(default=bytes)


class JobFile(models.Model):
    """A file that a job gave back, as compressed bytes; `size` counts also what was cut off."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="collected")
    name = models.CharField(max_length=100, validators=[RegexValidator(bounds.FILE_NAME.pattern)])
    content_z = models.BinaryField()
    size = models.PositiveBigIntegerField()
    truncated = models.BooleanField(default=False)
    # As above.
    cut_on_way = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["job", "name"], name="one_file_of_a_name_per_job")]
        verbose_name = _("collected file")
        verbose_name_plural = _("collected files")

    @property
    def has_address(self) -> bool:
        """Say whether it can be downloaded: archives once brought files of names that no address can have."""
        return bool(bounds.FILE_NAME.match(self.name))
