"""The end of a campaign."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet

from apps.bench.text import Message, _
from apps.campaigns import live, queries
from apps.campaigns.models import Campaign, Event, Trial
from apps.campaigns.services.events import write_event, write_fault
from apps.core import isolation, queue

FINISH_CAMPAIGNS, CANCEL_LEFTOVERS = "finish_campaigns", "cancel_leftovers"
# Trials marked in one transaction, and how long (at least) a worker that is at it takes for one.
BATCH = 2000
# Reasons of failures that the log names when all is done.
MOST_REASONS = 3
STALLED_AFTER = timedelta(seconds=10)
_OPEN = (Trial.State.PENDING, Trial.State.RUNNING)


@transaction.atomic
def finish_campaign(*, campaign_id: int, now: datetime) -> bool:
    """End a launched campaign if none of its trials is left to be done; False if there is, or it had ended.

    Experiments whose turn may have come now are looked at by a worker.
    """
    open_trials = Trial.objects.filter(campaign=campaign_id, state__in=_OPEN)
    if open_trials.exists():
        return False
    waiting = queries.waiting_in(campaign_id)
    if waiting.exists():
        queue.send(queue.OPEN_STAGES)
        return False
    # Looked at again under the lock: failed trials may have been put back in the meantime.
    launched = Campaign.objects.filter(pk=campaign_id, state__in=Campaign.OPEN_STATES, launched_at__isnull=False)
    campaign = launched.select_for_update(no_key=True).first()
    if campaign is None or open_trials.exists() or waiting.exists():
        return False
    campaign.state, campaign.finished_at, campaign.analysed_at = Campaign.State.FINISHED, now, None
    campaign.save(update_fields=["state", "finished_at", "analysed_at", "updated_at"])
    progress = queries.progress_of([campaign_id])[campaign_id]
    counts = {"measured": progress.measured, "failed": progress.failed}
    write_event(
        campaign_id=campaign_id,
        message=Message(_("Finished; trials measured: %(measured)s, failed: %(failed)s."), counts),
    )
    _write_failures(campaign_id)
    live.publish(campaign_id, "campaign")
    return True


def _write_failures(campaign_id: int) -> None:
    """Write into the log why trials failed, the most frequent reasons first, and what to do about each."""
    failed = Trial.objects.filter(campaign=campaign_id, state=Trial.State.FAILED, reason__isnull=False).order_by()
    parts = ("reason__message", "reason__remedy")
    rows = failed.values_list(*parts).annotate(count=Count("pk")).order_by("-count", "reason__message")
    for message, remedy, count in rows[:MOST_REASONS]:
        text, values = _("Failed trials: %(count)s. %(why)s"), {"count": count, "why": message}
        if remedy:
            text, values = _("Failed trials: %(count)s. %(why)s %(remedy)s"), {**values, "remedy": remedy}
        write_event(campaign_id=campaign_id, level=Event.Level.WARNING, message=Message(text, values))


def finish_campaigns(*, now: datetime) -> None:
    """End every campaign that has nothing left to do and was not ended when its last trial was."""
    open_trials = Trial.objects.filter(campaign=OuterRef("pk"), state__in=_OPEN)
    waiting = queries.waiting().filter(campaign=OuterRef("pk"))
    launched = Campaign.objects.filter(state__in=Campaign.OPEN_STATES, launched_at__isnull=False)
    done = launched.filter(~Exists(open_trials), ~Exists(waiting))
    pks = done.values_list("pk", flat=True)
    isolation.for_each(
        FINISH_CAMPAIGNS, pks, lambda pk: finish_campaign(campaign_id=pk, now=now), now=now, tell=write_fault
    )


@transaction.atomic
def cancel_pending(*, campaign_id: int, now: datetime) -> bool:
    """Mark trials of a cancelled campaign that nobody will carry out any more; True if there are more than a batch.

    False also if somebody else is at it.
    """
    cancelled = Campaign.objects.filter(pk=campaign_id, state=Campaign.State.CANCELLED)
    if cancelled.select_for_update(no_key=True, skip_locked=True).first() is None:
        return False
    pending = Trial.objects.filter(campaign=campaign_id, state=Trial.State.PENDING).order_by()
    batch = list(pending.values_list("pk", flat=True)[:BATCH])
    marked = Trial.objects.filter(pk__in=batch, state=Trial.State.PENDING)
    marked.update(state=Trial.State.CANCELLED, finished_at=now, updated_at=now)
    cancelled.update(updated_at=now)
    if batch:
        live.publish(campaign_id, "campaign")
    return len(batch) == BATCH


def cancel_leftovers(*, now: datetime) -> bool:
    """Mark a batch of the trials left pending by each cancelled campaign; True if there are more.

    Whoever asked comes back for the next: meanwhile the worker goes on with others' measurements.
    """
    pks = _unmarked().values_list("pk", flat=True)
    return any(
        isolation.for_each(
            CANCEL_LEFTOVERS, pks, lambda pk: cancel_pending(campaign_id=pk, now=now), now=now, tell=write_fault
        )
    )


def resume_cancelling(*, now: datetime) -> None:
    """Ask a worker to go on where for a while no trial was marked: its message was lost, or it was killed."""
    stalled = _unmarked().filter(~isolation.waiting(CANCEL_LEFTOVERS, now), updated_at__lt=now - STALLED_AFTER)
    if stalled.exists():
        queue.remind(queue.CANCEL_LEFTOVERS)


def _unmarked() -> QuerySet[Campaign]:
    """Return the cancelled campaigns with trials still pending, however long ago: the service may have been off."""
    pending_trials = Trial.objects.filter(campaign=OuterRef("pk"), state=Trial.State.PENDING)
    return Campaign.objects.filter(Exists(pending_trials), state=Campaign.State.CANCELLED)


def mark_analysed(*, campaign: Campaign, now: datetime) -> None:
    """Keep that conclusions were drawn from the results of an ended campaign, and tell its viewers."""
    Campaign.objects.filter(pk=campaign.pk).update(analysed_at=now)
    live.publish(campaign.pk, "findings")
