"""Figures measured while something of an earlier run may still have run on what they used."""

from django.utils import timezone

from apps.agents import queries as agents
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Reading
from apps.bench.validity import add_flags
from apps.campaigns import queries as campaigns
from apps.campaigns.models import Run

LEFTOVER = "leftover-possible"
_WORDS = _(
    "A program of an earlier run may still have been at work on %(nodes)s, whose agent was lost: it was only taken "
    "for ended."
)


def judge(reading: Reading, run: Run) -> Reading:
    """Return the reading of a run, flagged if a program of a lost agent may have disturbed it."""
    beside = campaigns.fenced_beside(resources=run.trial.lane.resources, run=run.pk, since=run.started_at)
    if not beside:
        return reading
    nodes = agents.leftover_nodes(beside, since=run.started_at, before=run.ended_at or timezone.now())
    if not nodes:
        return reading
    return add_flags(reading, [Flag(LEFTOVER, "warning", Message(_WORDS, {"nodes": ", ".join(nodes)}))], {})
