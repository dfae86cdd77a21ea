"""Jobs nobody will ever report on: their agent fell silent, or their time is long over."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import (
    Case,
    DateTimeField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Greatest, Least

from apps.agents import queries, wake
from apps.agents.models import Job, LateHeartbeat, Listener
from apps.core import clock, isolation, queue

MARK_LOST_JOBS = "mark_lost_jobs"
# How late an agent may have got a job that it was handed (its patience with a poll), and what it takes it to end one
# at its time limit, with some seconds of doubt about clocks.
HANDED_WITHIN = timedelta(seconds=35)
ENDED_WITHIN = timedelta(seconds=5)
# How long an agent's word that a lost job's program is there still holds: two polls, or nearly.
HELD_FOR = timedelta(seconds=40)
# What became of the agent of jobs that it does not carry out any more.
RETIRED = "the agent was retired"
# An agent stops a job at its time limit; its report may take this much longer.
OVERTIME = timedelta(seconds=30)
_LIMIT = ExpressionWrapper(F("time_limit_s") * Value(timedelta(seconds=1)), output_field=DurationField())


def mark_lost_jobs(*, now: datetime) -> int:
    """End the open jobs whose agents are lost, and those far over their time limits; return how many.

    Those of one node at a time: one with which that fails keeps no other from it.
    """
    lost_before = Listener.lost_before(now)
    if lost_before is None:
        return 0
    opened = Job.objects.filter(state__in=Job.OPEN_STATES)
    # A job may have been made in the moment in which its agent was retired.
    retired = Q(node__agent__isnull=True) | Q(node__agent__retired_at__isnull=False)
    silent = Q(node__agent__last_seen_at__isnull=True) | Q(node__agent__last_seen_at__lt=lost_before)
    silent &= Q(node__agent__isnull=False, node__agent__retired_at__isnull=True)
    silent &= Q(~Exists(LateHeartbeat.objects.filter(agent_ref=OuterRef("node__agent"), at__gte=lost_before)))
    lost = _lose_by_node(opened.filter(retired), RETIRED, now)
    lost += _lose_by_node(opened.filter(silent), "the agent fell silent", now)
    # A clock that was set ahead, or an outage, proves no more of a time limit than of silence.
    if (since := queries.even_since(now)) is None:
        return lost
    # PostgreSQL's GREATEST passes over what is not known yet, and what lies ahead a clock wrote that was set since.
    times = [Case(When(**{f"{name}__lte": now + clock.AHEAD}, then=name)) for name in ("start_at", "started_at")]
    begun = Greatest(Value(since), "delivered_at", *times)
    over = opened.filter(delivered_at__isnull=False).annotate(
        due=ExpressionWrapper(begun + _LIMIT, output_field=DateTimeField())
    )
    late = over.filter(due__lt=now - OVERTIME)
    # These agents are heard, and say with every poll what runs there: until then time alone proves nothing.
    return lost + _lose_by_node(late, "no report long after its time limit", now, fenced_for=HELD_FOR)


def _lose_by_node(jobs: QuerySet[Job], detail: str, now: datetime, fenced_for: timedelta = timedelta()) -> int:
    def lose(node: int) -> int:
        there = jobs.filter(node=node)
        return lose_jobs(jobs=there, fault="agent-lost", detail=detail, now=now, fenced_for=fenced_for)

    nodes = jobs.order_by("node").values_list("node", flat=True).distinct()
    return sum(isolation.for_each(MARK_LOST_JOBS, nodes, lose, now=now))


def latest_end(now: datetime) -> ExpressionWrapper:
    """Return until when a job's program may run, whatever a wrong clock wrote: it begins now at the latest.

    "Now" is one of clocks that differ.
    """
    begun = Value(now + clock.AHEAD + ENDED_WITHIN)
    return ExpressionWrapper(begun + _LIMIT, output_field=DateTimeField())


def _end(now: datetime, earliest: datetime) -> Least:
    """Return until when a job's program may run: its agent ends it at its time limit, counted from its start.

    It is `earliest` at the earliest. An agent that does not know yet that the clock was set ahead tells a start of
    before it was handed the job.
    """
    got = ExpressionWrapper(F("delivered_at") + HANDED_WITHIN, output_field=DateTimeField())
    start = Case(When(started_at__isnull=False, then=Greatest("started_at", "delivered_at")))
    begun = Coalesce(start, Greatest(got, F("start_at")))
    end = ExpressionWrapper(begun + _LIMIT + ENDED_WITHIN, output_field=DateTimeField())
    return Least(Greatest(end, Value(earliest)), latest_end(now), output_field=DateTimeField())


@transaction.atomic
def lose_jobs(
    *, jobs: QuerySet[Job], fault: str, detail: str, now: datetime, fenced_for: timedelta = timedelta()
) -> int:
    """End open jobs as lost, for a reason; return how many.

    With "agent-lost" as the fault nobody knows whether their programs ended: until their time limits, and for
    `fenced_for` from now on at least, they may run on.
    """
    rows = list(jobs.select_for_update(of=("self",)).values_list("pk", "node_id", "run_ref"))
    if not rows:
        return 0
    marked = Job.objects.filter(pk__in=[pk for pk, _node, _run in rows])
    if fault == "agent-lost":
        marked.filter(delivered_at__isnull=False).update(may_run_until=_end(now, now + fenced_for))
    marked.update(state=Job.State.LOST, ended_at=now, fault=fault, fault_detail=detail, updated_at=now)
    for run_ref in sorted({run for _pk, _node, run in rows if run is not None}):
        queue.send(queue.JOB_CHANGED, run_ref)
    # An agent that is there after all is told, at its next look, to stop what it still runs.
    wake.call_nodes(node for _pk, node, _run in rows)
    return len(rows)


def presume_ended(*, node_id: int, now: datetime) -> int:
    """Take for ended, on somebody's word, what lost jobs may have left running on a node; return how many jobs.

    What they used is given away again; figures measured on it before their time limits are flagged.
    """
    leftovers = Job.objects.filter(node_id=node_id, may_run_until__gt=now, presumed_ended_at=None)
    return leftovers.update(presumed_ended_at=now)
