"""The way of a run through its stages; whoever carries it out says how far it is."""

from datetime import datetime

from apps.bench.tools.base import Plan
from apps.campaigns.models import Run


def begin_run(*, run: Run, plan: Plan, now: datetime) -> bool:
    """Keep the plan of a claimed run and enter its first stage; False if it was begun, or had ended, before."""
    run.plan, run.stage, run.state = plan.as_json(), 0, Run.State.RUNNING
    begun = Run.objects.filter(pk=run.pk, state=Run.State.STARTING)
    return bool(begun.update(plan=run.plan, stage=0, state=Run.State.RUNNING, updated_at=now))


def enter_stage(*, run: Run, stage: int, now: datetime) -> None:
    """Keep that a run has come to `stage`."""
    run.stage = stage
    Run.objects.filter(pk=run.pk).update(stage=stage, updated_at=now)


def mark_stopping(*, run: Run, now: datetime) -> None:
    """Keep that all that still runs of a run has been asked to stop."""
    run.stopping = True
    Run.objects.filter(pk=run.pk).update(stopping=True, updated_at=now)
