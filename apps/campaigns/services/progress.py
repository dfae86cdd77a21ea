"""The way of a run through its stages; whoever carries it out says how far it is."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Exists

from apps.bench.text import Message, _
from apps.bench.toolkit import Plan
from apps.campaigns.models import Campaign, Run, Trial
from apps.campaigns.services.events import Level, write_event
from apps.testbeds.models import Node


def begin_run(*, run: Run, plan: Plan, now: datetime) -> bool:
    """Keep the plan of a claimed run and enter its first stage.

    False if it was begun, or had ended, before, or if its campaign is cancelled.
    """
    run.plan, run.stage, run.state = plan.as_json(), 0, Run.State.RUNNING
    live_campaigns = Campaign.objects.filter(pk=run.trial.campaign_id).exclude(state=Campaign.State.CANCELLED)
    begun = Run.objects.filter(Exists(live_campaigns), pk=run.pk, state=Run.State.STARTING)
    if not begun.update(plan=run.plan, stage=0, state=Run.State.RUNNING, updated_at=now):
        return False
    if plan.addresses:
        _note_addresses(run, dict(plan.addresses))
    return True


def _note_addresses(run: Run, addresses: dict[str, str]) -> None:
    """Keep at which addresses the nodes of a run's lane are measured, and say in the log if they changed.

    Those at which nothing was measured yet, such as a wrong one that was mended, are none to compare with.
    """
    lane = run.trial.lane
    if addresses in lane.addresses:
        return
    is_other = bool(lane.addresses) and lane.trials.filter(state=Trial.State.SUCCEEDED).exists()
    lane.addresses = [*lane.addresses, addresses] if is_other else [addresses]
    lane.save(update_fields=["addresses"])
    if not is_other:
        return
    moved = {pk for pk, address in addresses.items() if lane.addresses[0].get(pk) != address}
    names = Node.objects.filter(pk__in=moved).order_by("name").values_list("name", flat=True)
    text = _(
        "The address of %(nodes)s changed: trials from here on do not measure what those before did, and are flagged."
    )
    message = Message(text, {"nodes": ", ".join(names)})
    write_event(campaign_id=run.trial.campaign_id, trial_id=run.trial_id, level=Level.WARNING, message=message)


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
