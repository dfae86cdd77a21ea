"""Jobs on their way to agents: queued, delivered, asked to stop."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.agents import wake
from apps.agents.destinations import hosts_in
from apps.agents.models import Job
from apps.agents.services import losses
from apps.agents.services.reports import is_news
from apps.core import queue
from apps.testbeds.models import Node
from apps.testbeds.queries import counting

# What a poll without a number counts as: later than all.
LAST_POLL = 2**63 - 1

# Every measurement waits for this one, too: a look is one statement. What is new is marked as delivered by it, but
# returned as it was before.
_DELIVER = """
    WITH opened AS (
        SELECT job.*, agent.facts_id AS facts_now, (
                   SELECT address FROM testbeds_nodeaddress place
                    WHERE place.node_id = job.node_id ORDER BY position, id LIMIT 1) AS address
          FROM agents_agent agent
          LEFT JOIN agents_agentinstance instance ON instance.id = agent.instance_id
          JOIN agents_job job ON job.node_id = agent.node_id
         WHERE agent.id = %(agent)s AND agent.retired_at IS NULL
           AND instance.key IS NOT DISTINCT FROM %(instance)s::uuid
           AND job.state IN ('queued', 'delivered', 'running', 'ready')
    ), claimed AS (
        UPDATE agents_job job
           SET state = 'delivered', delivered_at = %(now)s, updated_at = %(now)s,
               facts_id = COALESCE(job.facts_id, opened.facts_now), hand_outs = job.hand_outs + 1,
               instance = %(instance)s::uuid, taken_at_poll = %(taken)s
          FROM opened
         WHERE job.id = opened.id
           AND ((opened.stop_requested_at IS NULL AND NOT job.id = ANY(%(passed)s::uuid[])
                 AND (job.state = 'queued' OR (job.state = 'delivered' AND job.taken_at_poll <= %(poll)s
                                               AND job.hand_outs < %(most)s)))
                OR (job.state = 'queued' AND job.id = ANY(%(held)s::uuid[])))
    ), seen_off AS (
        UPDATE agents_job job
           SET may_run_until = %(now)s
          FROM agents_agent agent
         WHERE agent.id = %(agent)s AND job.node_id = agent.node_id AND job.may_run_until > %(now)s
           AND job.instance IS NOT DISTINCT FROM %(instance)s::uuid AND job.taken_at_poll < %(poll)s
           AND NOT job.id = ANY(%(held)s::uuid[])
    ), still_there AS (
        UPDATE agents_job job
           SET may_run_until = %(there_until)s
          FROM agents_agent agent
         WHERE agent.id = %(agent)s AND job.node_id = agent.node_id AND job.may_run_until > %(now)s
           AND job.may_run_until < %(there_until)s - %(renewed_after)s AND job.presumed_ended_at IS NULL
           AND job.instance IS NOT DISTINCT FROM %(instance)s::uuid AND job.id = ANY(%(running)s::uuid[])
           AND job.id = ANY(%(held)s::uuid[])
    )
    SELECT * FROM opened ORDER BY stage, created_at
"""

# An agent's word on what still runs is written down so often, not at each look.
_RENEWED_AFTER = timedelta(seconds=10)

# Each time its agent went on without it: whoever takes a job not even then never will.
MOST_HAND_OUTS = 20

# Why an agent does not begin what it is handed, by its word.
_OVER = {
    "acknowledged": "it was carried out, and its end acknowledged, before the service forgot that",
    "refused": "its report was refused before, and is kept in the agent's folder refused/",
}
_GONE = "the agent no longer knows the job"


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """A job to be: one argv on one node. `run_ref` is the caller's number, `start_at` an instant of server time.

    `files` (name, text) are put into its work folder, `collect` names those given back, `environment` (name, value)
    adds variables. On the node `{work}` stands for the folder, `{program:NAME}` for an allowed program's path.
    """

    node_id: int
    run_ref: int | None
    role: str
    stage: int
    argv: Sequence[str]
    time_limit_s: float
    background: bool = False
    ready_pattern: str = ""
    start_at: datetime | None = None
    optional: bool = False
    files: Sequence[tuple[str, str]] = ()
    collect: Sequence[str] = ()
    environment: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class PollAnswer:
    """What a poll is answered with: jobs to start, ids of jobs to stop and of those to be reported again."""

    jobs: list[Job]
    stop: list[str]
    tell: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.jobs or self.stop or self.tell)


def queue_jobs(*, specs: Sequence[JobSpec]) -> list[Job]:
    """Make jobs, all or none, and wake the polls of their nodes."""
    jobs = Job.objects.bulk_create(
        Job(
            node_id=spec.node_id,
            run_ref=spec.run_ref,
            role=spec.role,
            stage=spec.stage,
            argv=list(spec.argv),
            background=spec.background,
            ready_pattern=spec.ready_pattern,
            time_limit_s=spec.time_limit_s,
            start_at=spec.start_at,
            optional=spec.optional,
            files=[list(pair) for pair in spec.files],
            collect=list(spec.collect),
            environment=[list(pair) for pair in spec.environment],
        )
        for spec in specs
    )
    wake.call_nodes(job.node_id for job in jobs)
    return jobs


def request_stop(*, run_ref: int, now: datetime, spared: int | None = None) -> int:
    """Ask for the end of all open jobs of a run; return how many there are. Those never delivered end at once.

    Those of the stage that is `spared` go on.
    """
    return request_stops(run_refs=[run_ref], now=now, spared={} if spared is None else {run_ref: spared})


@transaction.atomic
def request_stops(*, run_refs: Collection[int], now: datetime, spared: Mapping[int, int] | None = None) -> int:
    """Ask for the end of all open jobs of several runs, as `request_stop` does; `spared` {run: stage}."""
    opened = Job.objects.filter(run_ref__in=run_refs, state__in=Job.OPEN_STATES)
    for run_ref, stage in (spared or {}).items():
        opened = opened.exclude(run_ref=run_ref, stage=stage)
    queued = opened.filter(state=Job.State.QUEUED)
    waiting = {run_ref for run_ref in queued.values_list("run_ref", flat=True) if run_ref is not None}
    ended = queued.update(
        state=Job.State.ENDED,
        ended_at=now,
        stop_requested_at=now,
        fault="stopped",
        fault_detail="stopped before it was handed out",
        updated_at=now,
    )
    pairs = list(opened.filter(stop_requested_at__isnull=True).values_list("pk", "node_id"))
    Job.objects.filter(pk__in=[pk for pk, _node in pairs]).update(stop_requested_at=now, updated_at=now)
    wake.call_nodes(node for _pk, node in pairs)
    for run_ref in sorted(waiting):
        queue.send(queue.JOB_CHANGED, run_ref)
    return ended + len(pairs)


def deliver_jobs(
    *,
    agent_id: int,
    held: Collection[str],
    stopping: Collection[str],
    is_first_look: bool,
    now: datetime | None = None,
    instance: UUID | None = None,
    poll: int | None = None,
    running: Collection[str] = (),
    over: Mapping[str, str] = MappingProxyType({}),
    told: Mapping[str, Job.State] = MappingProxyType({}),
) -> PollAnswer:
    """Return what is to be done on an agent's node, and mark its new jobs as delivered; nothing once it is retired.

    `instance` is the process that asks, in its poll of that number; both are None for a program of an earlier
    version. A poll says nothing of jobs that were handed out in answer to it or to a later one: it may be an old one
    that a proxy repeats. What a job given up as lost may still have run is over once its agent holds it no more.

    What it may run is not over as long as the agent names it among `running`, whatever its time limit.

    `held` are the jobs the agent has on its spool, `stopping` those it is already stopping. A delivered job that it
    does not hold was lost on the way and is delivered again. One that it holds but that is not open here is to be
    stopped (it may have ended meanwhile: stopping it then does nothing). At the first look of a poll, when what the
    agent holds is fresh knowledge, a job that has started but that the agent does not know is lost.

    A database that was put back, or lost its last seconds, knows less than its agents. `over` are jobs that were
    handed out and that the agent will not begin, as they are over for it, with the reasons: they are lost. So is one
    that was handed out MOST_HAND_OUTS times, whatever its agent says. `told` {job: state} is what was acknowledged of
    held jobs: what is not known here is to be told again. One that is held but was queued here counts as delivered.
    """
    now = now or timezone.now()
    jobs: list[Job] = []
    cancelled: list[Job] = []
    stop: list[str] = []
    tell: list[str] = []
    lost: dict[tuple[str, str], list[UUID]] = {}
    number = LAST_POLL if poll is None else poll
    values = {"agent": agent_id, "held": list(held), "now": now, "instance": instance, "poll": number}
    values |= {"taken": 0 if poll is None else poll, "passed": [*held, *over], "most": MOST_HAND_OUTS}
    values |= {"running": list(running), "there_until": now + losses.HELD_FOR, "renewed_after": _RENEWED_AFTER}
    opened = list(Job.objects.raw(_DELIVER, values))
    for job in opened:
        job_id = str(job.pk)
        if job_id in held:
            if job.stop_requested_at and job_id not in stopping:
                stop.append(job_id)
            if job_id in told and is_news(told[job_id], job.state):
                tell.append(job_id)
        elif job.state != Job.State.QUEUED and job.taken_at_poll > number:
            continue
        elif job_id in over:
            lost.setdefault(("outcome-gone", _OVER.get(over[job_id], _GONE)), []).append(job.pk)
        elif job.state == Job.State.DELIVERED and not job.stop_requested_at and job.hand_outs >= MOST_HAND_OUTS:
            lost.setdefault(("agent-lost", f"handed out {MOST_HAND_OUTS} times, and never begun"), []).append(job.pk)
        elif job.state in (Job.State.QUEUED, Job.State.DELIVERED):
            (cancelled if job.stop_requested_at else jobs).append(job)
        elif is_first_look and (poll is None or job.taken_at_poll < number):
            lost.setdefault(("outcome-gone", _GONE), []).append(job.pk)
    stop += sorted(set(held) - set(stopping) - {str(job.pk) for job in opened})
    for (fault, detail), pks in lost.items():
        there = Job.objects.filter(pk__in=pks, state__in=Job.OPEN_STATES)
        losses.lose_jobs(jobs=there, fault=fault, detail=detail, now=now)
    if cancelled:
        _cancel(cancelled, now)
    _note_destinations(jobs)
    return PollAnswer(jobs, stop, tell)


def _note_destinations(jobs: Sequence[Job]) -> None:
    """Note on a node's jobs, as `inventory`, which addresses in their commands, variables and files are its `team`'s.

    Only those that count as their nodes': what an operator alone entered nobody is to send to. What another team
    described is told to nobody: no word of it, and not whether it is there.
    """
    hosts_by_job = {job.pk: hosts_in(job) for job in jobs}
    hosts = set().union(*hosts_by_job.values())
    teams = dict(Node.objects.filter(pk__in={job.node_id for job in jobs}).values_list("pk", "team"))
    node_addresses = counting(teams=set(teams.values()), addresses=hosts)
    for job in jobs:
        job.inventory = sorted(hosts_by_job[job.pk] & node_addresses)
        job.team = str(teams[job.node_id])


@transaction.atomic
def _cancel(jobs: Sequence[Job], now: datetime) -> None:
    """End jobs that were to be stopped before they arrived."""
    Job.objects.filter(pk__in=[job.pk for job in jobs], state__in=Job.OPEN_STATES).update(
        state=Job.State.ENDED,
        ended_at=now,
        fault="stopped",
        fault_detail="stopped before it was handed out",
        updated_at=now,
    )
    for run_ref in {job.run_ref for job in jobs if job.run_ref is not None}:
        queue.send(queue.JOB_CHANGED, run_ref)
