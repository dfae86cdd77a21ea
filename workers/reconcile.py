"""Find runs that something happened to, or should have, without anybody having looked."""

import contextlib
from datetime import datetime, timedelta
from typing import Any

import redis

from apps.campaigns import queries
from apps.campaigns.models import Campaign
from apps.core import isolation, leases, signs
from workers import carry_out, closure
from workers.steps import Step, next_step

# A run claimed longer ago than this, but not begun, was claimed by a worker that is gone.
BEGIN_WITHIN = timedelta(seconds=5)


def reconcile(*, now: datetime) -> None:
    """Begin and advance the open runs that wait for nobody: their message was lost, or their worker killed."""
    runs: list[Any] = list(queries.open_runs())
    jobs = carry_out.job_views([run.pk for run in runs])
    by_pk = {run.pk: run for run in runs}
    # Since when what ended runs printed waits for a worker that reads it.
    unread: list[datetime] = []

    def take_on(pk: int) -> None:
        run = by_pk[pk]
        if run.stages is None:
            if run.updated_at < now - BEGIN_WITHIN:
                carry_out.begin(run)
            return
        step = _next_step(run, jobs[pk])
        if step is Step.CLOSE:
            unread.append(max((job.ended_at for job in jobs[pk] if job.ended_at), default=now))
        # Whoever reads what it printed holds the run: nobody of the timetable waits for that, or reads by itself.
        if step is not Step.WAIT and not (step is Step.CLOSE and leases.is_held(closure.CLOSE, pk)):
            carry_out.advance(pk, hands_over=True)

    # Each commits step by step: what a run gives back is there for the next before its output is read.
    isolation.for_each(carry_out.TAKE_ON, by_pk, take_on, now=now, tell=carry_out.write_fault, atomic=False)
    with contextlib.suppress(redis.RedisError):
        signs.note_unread(len(unread), (now - min(unread, default=now)).total_seconds())
    # The message of a job may have come between two looks.
    isolation.keep_only((carry_out.TAKE_ON, closure.CLOSE), by_pk, now=now)


def _next_step(run: Any, jobs: list) -> Step:
    return next_step(
        stages=run.stages,
        stage=run.stage,
        stopping=run.stopping,
        cancelled=run.campaign_state == Campaign.State.CANCELLED,
        jobs=jobs,
    )
