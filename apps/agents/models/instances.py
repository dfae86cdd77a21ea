"""Processes of agents: which one is at work for a node, and which others claimed to be."""

from datetime import timedelta

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.agents.models.agents import Agent
from apps.core.models import TimeStamped

# One that was refused asks again at least this often (the agent's longest pause), so longer silence is its end.
RIVAL_FOR = timedelta(seconds=60)


class AgentInstance(TimeStamped):
    """One process of an agent, known by the random `key` that it drew at its start.

    `machine`, `boot` and `folder` tell whether another process could run beside it: only one at a time can hold the
    lock of one folder (its file system and inode) under one kernel. Each is "" where the process cannot know it.
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="instances")
    key = models.UUIDField(editable=False)
    machine = models.CharField(max_length=64, blank=True)
    boot = models.CharField(max_length=64, blank=True)
    folder = models.CharField(max_length=64, blank=True)
    # When it took the lock (ns since the boot); None of an agent of an earlier version, which does not tell.
    began_ns = models.BigIntegerField(null=True, blank=True)
    host = models.CharField(_("host"), max_length=253, blank=True)
    address = models.CharField(_("address"), max_length=64, blank=True)
    version = models.CharField(_("version"), max_length=32, blank=True)
    # When it was let in, when another took its place, when it said that it ends.
    admitted_at = models.DateTimeField(null=True, blank=True)
    replaced_at = models.DateTimeField(null=True, blank=True)
    left_at = models.DateTimeField(null=True, blank=True)
    # Of one that was turned away: when first and last, and how many of its reports do not count.
    refused_at = models.DateTimeField(null=True, blank=True)
    refused_last_at = models.DateTimeField(null=True, blank=True)
    refused_reports = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["agent", "key"], name="one_row_per_instance")]

    def __str__(self) -> str:
        return f"{self.host or '?'} ({self.address or '?'})"

    def can_only_follow(self, other: "AgentInstance") -> bool:
        """Return whether this one cannot run beside `other`: it holds the lock that the other held until its end.

        Of two that hold the lock since the same instant one goes on with the memory of the other: neither follows.
        """
        if self.began_ns is None or other.began_ns is None:
            return self._has_lock_of(other)
        return other.ended_before(self)

    def ended_before(self, other: "AgentInstance") -> bool:
        """Return whether this one held the lock, by its own word, before `other` did."""
        if self.began_ns is None or other.began_ns is None:
            return False
        return self.began_ns < other.began_ns and self._has_lock_of(other)

    def _has_lock_of(self, other: "AgentInstance") -> bool:
        mine, others = ((instance.machine, instance.boot, instance.folder) for instance in (self, other))
        return mine == others and bool(self.boot and self.folder)

    def has_folder_of(self, other: "AgentInstance") -> bool:
        """Return whether it works in the folder that `other` worked in, maybe before the machine was started anew."""
        return bool(self.folder) and (self.machine, self.folder) == (other.machine, other.folder)
