"""What agents report of their jobs; a report holds all that is known, so it may come twice, late or alone."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.utils import timezone

from apps.agents.models import Job, JobFile, JobOutput
from apps.core import queue

_RANK = {
    Job.State.QUEUED: 0,
    Job.State.DELIVERED: 1,
    Job.State.RUNNING: 2,
    Job.State.READY: 3,
    Job.State.ENDED: 4,
}


# Every measurement waits for this one: a report is one statement, one round trip. What a report does not say yet
# (its job has not ended, say) is null, false or empty in both.
_TAKE = """
    WITH told AS (
        UPDATE agents_job
           SET state = %(state)s, started_at = %(started_at)s, ready_at = %(ready_at)s, ended_at = %(ended_at)s,
               exit_code = %(exit_code)s, signal = %(signal)s, timed_out = %(timed_out)s, fault = %(fault)s,
               fault_detail = %(fault_detail)s, clock_offset_s = %(clock_offset_s)s,
               clock_error_s = %(clock_error_s)s, updated_at = %(now)s
         WHERE id = %(job_id)s AND node_id = %(node_id)s AND state = ANY(%(before)s)
           AND (instance IS NULL OR instance = %(instance)s::uuid)
     RETURNING id, run_ref, background, ready_pattern <> '' AS awaits_pattern, collect
    ), kept AS (
        INSERT INTO agents_joboutput (job_id, stdout_z, stderr_z, stdout_bytes, stderr_bytes, truncated, cut_on_way,
                                      telemetry_z)
        SELECT id, %(stdout_z)s::bytea, %(stderr_z)s::bytea, %(stdout_bytes)s, %(stderr_bytes)s, %(truncated)s,
               %(cut_on_way)s, %(telemetry_z)s::bytea
          FROM told WHERE %(stdout_z)s::bytea IS NOT NULL AND %(stderr_z)s::bytea IS NOT NULL
    ), given AS (
        INSERT INTO agents_jobfile (job_id, name, content_z, size, truncated, cut_on_way)
        SELECT told.id, file.name, file.content_z, file.size, file.truncated, file.cut_on_way
          FROM told
          JOIN unnest(%(names)s::text[], %(contents)s::bytea[], %(sizes)s::bigint[], %(cuts)s::bool[],
                      %(cuts_on_way)s::bool[])
               AS file(name, content_z, size, truncated, cut_on_way) ON file.name = ANY(told.collect)
    )
    SELECT run_ref, background, awaits_pattern FROM told
"""


class UnknownJob(Exception):
    """A report on a job that is not this agent's, or not there."""


class OtherInstance(Exception):
    """A report on a job that another process of the agent took: it is not counted."""


@dataclass(frozen=True)
class GivenFile:
    """A file that a job gave back: zlib-compressed bytes, and its size with what was cut off."""

    name: str
    content_z: bytes
    size: int
    truncated: bool = False
    cut_on_way: bool = False


@dataclass(frozen=True, kw_only=True)
class JobReport:
    """The state of a job as its agent knows it; times are server times, outputs zlib-compressed bytes."""

    state: Job.State
    started_at: datetime | None = None
    ready_at: datetime | None = None
    ended_at: datetime | None = None
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    fault: str = ""
    fault_detail: str = ""
    clock_offset_s: float | None = None
    clock_error_s: float | None = None
    stdout_z: bytes | None = None
    stderr_z: bytes | None = None
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    truncated: bool = False
    cut_on_way: bool = False
    collected: tuple[GivenFile, ...] = ()
    telemetry_z: bytes = b""


def record_report(*, node_id: int, job_id: UUID, report: JobReport, instance: UUID | None = None) -> Job.State:
    """Take a report in and return the job's state; UnknownJob if there is no such job on the node.

    OtherInstance if `instance`, the process that reports, is not the one that took the job: what counts is definite.

    A report that says nothing new changes nothing. A job that was given up as lost stays lost, for its run has ended
    without it, but what it printed is kept.
    """
    values = {**vars(report), "job_id": job_id, "node_id": node_id, "now": timezone.now(), "instance": instance}
    values |= {
        "names": [file.name for file in report.collected],
        "contents": [file.content_z for file in report.collected],
        "sizes": [file.size for file in report.collected],
        "cuts": [file.truncated for file in report.collected],
        "cuts_on_way": [file.cut_on_way for file in report.collected],
    }
    del values["collected"]
    values["before"] = [state.value for state, rank in _RANK.items() if rank < _RANK[report.state]]
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, values)
        row = cursor.fetchone()
    if row is None:
        return _take_old(node_id, job_id, report, instance)
    run_ref, background, awaits_pattern = row
    if run_ref is not None and _takes_run_on(report.state, background=background, awaits_pattern=awaits_pattern):
        queue.send(queue.JOB_CHANGED, run_ref)
    return report.state


def _take_old(node_id: int, job_id: UUID, report: JobReport, instance: UUID | None) -> Job.State:
    """Return the state of a job for which a report came that is not news, keeping the output of a lost one."""
    job = Job.objects.filter(pk=job_id, node_id=node_id).first()
    if job is None:
        raise UnknownJob
    if job.instance is not None and job.instance != instance:
        raise OtherInstance
    if report.state == Job.State.ENDED:
        # Its agent saw it end: what was fenced for it is free.
        Job.objects.filter(pk=job_id, may_run_until__gt=timezone.now()).update(may_run_until=timezone.now())
    if job.state == Job.State.LOST and report.stdout_z is not None and report.stderr_z is not None:
        output = JobOutput(
            job=job,
            stdout_z=report.stdout_z,
            stderr_z=report.stderr_z,
            stdout_bytes=report.stdout_bytes,
            stderr_bytes=report.stderr_bytes,
            truncated=report.truncated,
            cut_on_way=report.cut_on_way,
            telemetry_z=report.telemetry_z,
        )
        JobOutput.objects.bulk_create([output], ignore_conflicts=True)
        files = [JobFile(job=job, **vars(file)) for file in report.collected if file.name in job.collect]
        JobFile.objects.bulk_create(files, ignore_conflicts=True)
    return Job.State(job.state)


def most_kept(node_id: int, job_id: UUID, told: Job.State, instance: UUID | None, *, has_output: bool) -> int | None:
    """Return how much (bytes) of each output in a report on a node's job would be stored, None if nothing would.

    It is the job's own limit, if the report goes beyond the state that the job is in.

    Of a job given up as lost what it printed is stored still, once, if the report `has_output` (both streams); of one
    that another process of the agent took nothing is. A job's states only go on: what would not be stored now never
    will be.
    """
    rows = Job.objects.filter(pk=job_id, node_id=node_id)
    row = rows.values_list("state", "instance", "output__job_id", "output_limit_bytes").first()
    if row is None:
        return None
    state, owner, output, limit = row
    if owner is not None and owner != instance:
        return None
    is_kept = has_output and output is None if state == Job.State.LOST else is_news(told, state)
    return int(limit) if is_kept else None


def is_news(told: Job.State, state: str) -> bool:
    """Say whether what was told of a job goes beyond the state it is in here."""
    return _RANK[told] > _RANK[Job.State(state)]


def _takes_run_on(state: Job.State, *, background: bool, awaits_pattern: bool) -> bool:
    """Say whether a job's new state can let its run go on: its end does, or a background job's being at hand."""
    if state == Job.State.ENDED:
        return True
    return background and state == (Job.State.READY if awaits_pattern else Job.State.RUNNING)
