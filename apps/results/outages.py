"""Settings that agents put back in an outage of the server: what had ended well by then was measured under them."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from apps.agents.models import Job
from apps.bench import settings
from apps.bench.toolkit import AROUND, Plan
from apps.results import impossible_times

# What an agent says of settings that it put back as it heard nothing of the server.
UNHEARD = "server-unheard"


def outlived(jobs: Sequence[Job], plan: Plan, steps: Collection[str] = ()) -> list[Job]:
    """Return the jobs that held settings until all that is measured had ended well, and for too long a silence.

    None if anything was still at work, or to be done, when the first were put back; or if the times do not say, as
    the server's clock was set meanwhile, by these `steps`.
    """
    holders = [job for job in jobs if job.fault == UNHEARD]
    ends = [job.ended_at for job in holders if job.ended_at and job.exit_code == 0 and _is_timed(job, steps)]
    if not holders or len(ends) < len(holders):
        return []
    put_back_at = min(ends) - timedelta(seconds=settings.STOP_TAKES_S)
    own = {
        number
        for number, stage in enumerate(plan.stages)
        if not stage.name.startswith(AROUND) and not stage.cleans_up_after
    }
    measuring = [job for job in jobs if job.stage in own and not job.background]
    is_all_there = bool(measuring) and own <= {job.stage for job in jobs}
    return holders if is_all_there and all(_had_ended(job, put_back_at, steps) for job in measuring) else []


def begun_under(holders: Sequence[Job], jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs without what began when those no longer held settings: it tells nothing of what is measured."""
    put_back_at = min((job.ended_at for job in holders if job.ended_at), default=None)
    return [job for job in jobs if not (put_back_at and job.started_at and job.started_at > put_back_at)]


def _had_ended(job: Job, put_back_at: datetime, steps: Collection[str]) -> bool:
    is_well = job.optional or (job.exit_code == 0 and not job.fault and not job.timed_out)
    return is_well and job.ended_at is not None and job.ended_at <= put_back_at and _is_timed(job, steps)


def _is_timed(job: Job, steps: Collection[str]) -> bool:
    return not impossible_times.are_impossible(job, steps)
