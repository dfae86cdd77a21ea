"""Find runs that something happened to, or should have, without anybody having looked."""

import logging
from datetime import datetime, timedelta
from typing import Any

from apps.campaigns import queries
from apps.campaigns.models import Campaign
from workers import carry_out
from workers.steps import Step, next_step

logger = logging.getLogger(__name__)

# A run claimed longer ago than this, but not begun, was claimed by a worker that is gone.
BEGIN_WITHIN = timedelta(seconds=5)


def reconcile(*, now: datetime) -> None:
    """Begin and advance the open runs that wait for nobody: their message was lost, or their worker killed."""
    runs: list[Any] = list(queries.open_runs())
    jobs = carry_out.job_views([run.pk for run in runs])
    for run in runs:
        try:
            if run.stages is None:
                if run.updated_at < now - BEGIN_WITHIN:
                    carry_out.begin(run)
            elif _next_step(run, jobs[run.pk]) is not Step.WAIT:
                carry_out.advance(run.pk)
        except Exception:
            # One run must not keep the others from being looked at.
            logger.exception("Run %s could not be taken on; the next tick tries again", run.pk)


def _next_step(run: Any, jobs: list) -> Step:
    return next_step(
        stages=run.stages,
        stage=run.stage,
        stopping=run.stopping,
        cancelled=run.campaign_state == Campaign.State.CANCELLED,
        jobs=jobs,
    )
