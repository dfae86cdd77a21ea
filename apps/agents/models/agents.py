"""The program on a node, how it was enrolled, and what it said of the node."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models.functions import Greatest
from django.db.models.lookups import LessThan
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.agents import program
from apps.core.models import KIB, BoundedJSONField, TimeStamped
from apps.testbeds.models import Node

# An idle agent renews its poll at least this often, so silence of LOST_AFTER means that it is gone.
LOST_AFTER = timedelta(seconds=30)
# Nobody listened if nothing was written for this long.
DEAF_AFTER = timedelta(seconds=10)


class AgentState(models.TextChoices):
    """What the page says of a node's agent; computed from rows, never stored."""

    NEVER_SEEN = "never-seen", _("never seen")
    IDLE = "idle", _("idle")
    BUSY = "busy", _("busy")
    LOST = "lost", _("lost")
    RETIRED = "retired", _("retired")


class Agent(TimeStamped):
    """The agent enrolled on a node; its token's digest is kept, never the token."""

    node = models.OneToOneField(Node, on_delete=models.PROTECT, related_name="agent", verbose_name=_("node"))
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    version = models.CharField(_("version"), max_length=32, blank=True)
    last_seen_at = models.DateTimeField(_("last seen"), null=True, blank=True)
    retired_at = models.DateTimeField(_("retired"), null=True, blank=True)
    clock_offset_s = models.FloatField(_("clock offset"), null=True, blank=True)
    clock_error_s = models.FloatField(_("uncertainty of the clock offset"), null=True, blank=True)
    facts = models.ForeignKey("FactSnapshot", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    # The process that is at work; none for a program of an earlier version, which does not introduce itself.
    instance = models.ForeignKey("AgentInstance", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    # When the oldest job ended whose report the agent could not send yet, as its last poll said.
    unsent_since = models.DateTimeField(_("oldest unsent report"), null=True, blank=True)
    # What the agent says is wrong on its node, as `apps.agents.troubles` reads it.
    troubles = BoundedJSONField(_("troubles"), most_bytes=16 * KIB, default=list, blank=True)
    # Since when one of them keeps it from measuring.
    set_aside_at = models.DateTimeField(_("set aside"), null=True, blank=True)

    class Meta:
        ordering = ["node__name"]
        verbose_name = _("agent")
        verbose_name_plural = _("agents")

    def __str__(self) -> str:
        return str(self.node)

    def get_absolute_url(self) -> str:
        """Return the address of the agent's page."""
        return reverse("agents:detail", kwargs={"pk": self.node_id})

    @property
    def is_replaceable(self) -> bool:
        """Return whether another agent may be enrolled in its place: it is retired, or never came to life."""
        return self.retired_at is not None or self.last_seen_at is None

    @property
    def is_outdated(self) -> bool:
        """Return whether it runs an earlier version of the program than this service has."""
        return bool(self.version) and self.retired_at is None and program.is_older(self.version)

    def state(self, *, lost_before: datetime | None, busy: bool) -> AgentState:
        """Return the state (`Listener.lost_before`); `busy` says whether one of its jobs is under way."""
        if self.retired_at:
            return AgentState.RETIRED
        if self.last_seen_at is None:
            return AgentState.NEVER_SEEN
        # Where it was asked for with it (`late`).
        late_at: datetime | None = getattr(self, "late_at", None)
        if lost_before is not None and max(self.last_seen_at, late_at or self.last_seen_at) < lost_before:
            return AgentState.LOST
        return AgentState.BUSY if busy else AgentState.IDLE

    @staticmethod
    def late(agent: str = "pk") -> models.Subquery:
        """Return when an agent was heard while somebody held its row, by the path to its id; NULL if nobody does."""
        return models.Subquery(LateHeartbeat.objects.filter(agent_ref=models.OuterRef(agent)).values("at"))

    @classmethod
    def silent(cls, path: str, lost_before: datetime) -> models.Q:
        """Return the condition that the agent on a path was heard, and last before a moment."""
        return models.Q(LessThan(Greatest(f"{path}last_seen_at", cls.late(f"{path}pk")), lost_before))


class EnrolmentToken(TimeStamped):
    """A one-time key that turns a freshly started agent into the agent of a node."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="enrolment_tokens")
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]


class FactSnapshots(models.QuerySet["FactSnapshot"]):
    """Reads of facts."""

    def own(self) -> "FactSnapshots":
        """Return what the nodes' own agents told this service."""
        return self.filter(archive_ref="")

    def brought(self, run_refs: Iterable[int]) -> "FactSnapshots":
        """Return what archives brought of these runs."""
        return self.exclude(archive_ref="").filter(jobs__run_ref__in=run_refs)


class FactSnapshot(TimeStamped):
    """What an agent said of its node; kept for ever, one row for each time that something changed.

    What came with the archive of a campaign bears that campaign's permanent id: it is what somebody says that an
    agent said, elsewhere or earlier. It tells of that campaign's runs only, and goes with it; of the node itself only
    its own agent's words count (`own`).
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="fact_snapshots")
    digest = models.CharField(max_length=64)
    facts = BoundedJSONField(most_bytes=1024 * KIB)
    archive_ref = models.CharField(max_length=20, blank=True, default="", db_default="", editable=False)

    # Another manager than the base's.
    objects = FactSnapshots.as_manager()  # type: ignore[misc, assignment]

    class Meta:
        ordering = ["-created_at"]
        get_latest_by = "created_at"
        indexes = [models.Index(fields=["node", "-created_at"])]


class Listener(models.Model):
    """One row that says since when agents can be heard: silence while nobody listened proves nothing."""

    listening_since = models.DateTimeField()
    heard_until = models.DateTimeField()
    # Who was heard last before it was lost at `heard_until`; None of a row of an earlier version.
    threshold = models.DateTimeField(null=True)

    @classmethod
    def lost_before(cls, now: datetime) -> datetime | None:
        """Return before when an agent was last heard that is lost, None where nobody knows.

        It must have been silent for LOST_AFTER in which somebody listened: time in which nobody did counts for
        nothing, so who was heard until an outage of the service is not lost by it, and who was lost before still is.
        """
        listener = cls.objects.filter(pk=1).first()
        if listener is None:
            return None
        end = listener.heard_until if now - listener.heard_until > DEAF_AFTER else now
        if end - listener.listening_since >= LOST_AFTER:
            return end - LOST_AFTER
        if listener.threshold is None:
            return None
        # A clock that was set back leaves it ahead.
        return min(listener.threshold + max(end - listener.heard_until, timedelta()), now - LOST_AFTER)


class LateHeartbeat(models.Model):
    """When an agent was heard whose own row somebody holds: it is not lost for that.

    `agent_ref` is the agent's id without a reference, which would wait for the row.
    """

    agent_ref = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
