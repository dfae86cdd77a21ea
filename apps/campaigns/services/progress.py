"""The way of a run through its stages; whoever carries it out says how far it is."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Exists

from apps.bench.toolkit import Plan
from apps.campaigns.models import Campaign, Run


def begin_run(*, run: Run, plan: Plan, now: datetime) -> bool:
    """Keep the plan of a claimed run and enter its first stage.

    False if it was begun, or had ended, before, or if its campaign is cancelled.
    """
    run.plan, run.stage, run.state = plan.as_json(), 0, Run.State.RUNNING
    wanted = Campaign.objects.filter(pk=run.trial.campaign_id).exclude(state=Campaign.State.CANCELLED)
    begun = Run.objects.filter(Exists(wanted), pk=run.pk, state=Run.State.STARTING)
    return bool(begun.update(plan=run.plan, stage=0, state=Run.State.RUNNING, updated_at=now))


def enter_stage(*, run: Run, stage: int, now: datetime) -> None:
    """Keep that a run has come to `stage`."""
    run.stage = stage
    Run.objects.filter(pk=run.pk).update(stage=stage, updated_at=now)


def mark_all_stopping(*, runs: Sequence[Run], now: datetime) -> None:
    """Keep that all that still runs of several runs has been asked to stop."""
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(stopping=True, updated_at=now)


def mark_stopping(*, run: Run, now: datetime) -> None:
    """Keep that all that still runs of a run has been asked to stop."""
    run.stopping = True
    Run.objects.filter(pk=run.pk).update(stopping=True, updated_at=now)
