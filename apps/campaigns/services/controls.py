"""Campaigns under way: paused, resumed, cancelled, withdrawn, and run again where they failed."""

from datetime import datetime

from django.db import transaction
from django.db.models import F, OuterRef, Subquery

from apps.accounts.models import User
from apps.bench.text import Message, _
from apps.campaigns import errors, live, stops
from apps.campaigns.models import Campaign, Experiment, Run, Trial
from apps.campaigns.services import completion, launches
from apps.campaigns.services.campaigns import lock_campaign
from apps.campaigns.services.events import write_event
from apps.campaigns.waits.reasons import PAUSED
from apps.core import queue
from apps.toolbox import queries as toolbox

State = Campaign.State


@transaction.atomic
def pause_campaign(*, campaign: Campaign, user: User) -> Campaign:
    """Start no further trial (or date) of the campaign; those under way go on to their end."""
    campaign = lock_campaign(campaign, user)
    _refuse_unless(
        campaign, (State.RUNNING, State.SCHEDULED), _("Only a running or scheduled campaign can be paused.")
    )
    return _change(campaign, State.PAUSED, user, PAUSED)


@transaction.atomic
def resume_campaign(*, campaign: Campaign, user: User, now: datetime) -> Campaign:
    """Go on with a paused campaign; a series goes on with its next date after `now`."""
    campaign = lock_campaign(campaign, user)
    _refuse_unless(campaign, (State.PAUSED,), _("Only a paused campaign can be resumed."))
    if campaign.launched_at:
        queue.send(queue.SCHEDULE)
        return _change(campaign, State.RUNNING, user, _("Resumed by %(user)s."))
    campaign.next_at = launches.next_start(campaign, now)
    return _change(campaign, State.SCHEDULED, user, _("Resumed by %(user)s."))


@transaction.atomic
def withdraw_campaign(*, campaign: Campaign, user: User) -> Campaign:
    """Make a scheduled campaign a draft again, so that it can be changed."""
    campaign = lock_campaign(campaign, user)
    _refuse_unless(campaign, (State.SCHEDULED,), _("Only a scheduled campaign can be made a draft again."))
    campaign.next_at = None
    return _change(campaign, State.DRAFT, user, _("Withdrawn by %(user)s."))


def cancel_campaign(*, campaign: Campaign, user: User, now: datetime) -> Campaign:
    """Start nothing any more and stop what is under way; results so far are kept.

    The traffic is stopped first, in a transaction of its own. Marking a hundred thousand trials that wait takes
    seconds; nothing starts them any more meanwhile, and a worker does it.
    """
    campaign = _stop(campaign, user, now)
    if completion.cancel_pending(campaign_id=campaign.pk, now=now):
        queue.send(queue.CANCEL_LEFTOVERS)
    return campaign


@transaction.atomic
def _stop(campaign: Campaign, user: User, now: datetime) -> Campaign:
    campaign = lock_campaign(campaign, user)
    may = (State.RUNNING, State.PAUSED, State.SCHEDULED)
    _refuse_unless(campaign, may, _("Only a running, paused or scheduled campaign can be cancelled."))
    campaign.next_at, campaign.finished_at, campaign.analysed_at = None, now, None
    runs = list(Run.objects.filter(trial__campaign=campaign, state__in=Run.OPEN_STATES).values_list("pk", flat=True))
    stops.stop_runs(run_ids=runs)
    # Whoever carries out the runs finds, too, that their campaign is cancelled.
    for run in runs:
        queue.send(queue.JOB_CHANGED, run)
    return _change(campaign, State.CANCELLED, user, _("Cancelled by %(user)s."))


@transaction.atomic
def rerun_failed(*, campaign: Campaign, user: User) -> int:
    """Put the failed trials back for new attempts, as many as their policy allows; return how many they are.

    Experiments that could not be started, as what they waited for had failed, wait again.
    """
    campaign = lock_campaign(campaign, user)
    may = (State.RUNNING, State.PAUSED, State.FINISHED)
    _refuse_unless(campaign, may, _("Only a launched campaign's failed trials can be run again; clone this one."))
    slugs = campaign.experiments.values_list("tool", flat=True)
    if awaiting := toolbox.awaiting_of(slugs, campaign.team_id):
        raise errors.WrongState(Message(toolbox.NOT_TAKEN_OVER, {"tool": ", ".join(awaiting)}))
    policy = Experiment.objects.filter(pk=OuterRef("experiment_id")).values("max_attempts")
    count = campaign.trials.filter(state=Trial.State.FAILED).update(
        state=Trial.State.PENDING,
        attempts_allowed=F("attempts") + Subquery(policy),
        not_before=None,
        finished_at=None,
    )
    refused = campaign.experiments.filter(refusal__isnull=False).update(refusal=None)
    if not count and not refused:
        raise errors.WrongState(Message(_("No trial of this campaign has failed: there is nothing to run again.")))
    campaign.finished_at = None
    state = State.PAUSED if campaign.state == State.PAUSED else State.RUNNING
    text = _("%(user)s has what failed run again; trials: %(count)s.")
    _change(campaign, state, user, text, count=count)
    queue.send(queue.SCHEDULE)
    return count


def _refuse_unless(campaign: Campaign, states: tuple[State, ...], text: str) -> None:
    if campaign.state not in states:
        raise errors.WrongState(Message(text))


def _change(campaign: Campaign, state: State, user: User, text: str, **values: object) -> Campaign:
    campaign.state = state
    campaign.save(update_fields=["state", "next_at", "finished_at", "analysed_at", "updated_at"])
    write_event(campaign_id=campaign.pk, message=Message(text, {"user": user.get_username(), **values}))
    live.publish(campaign.pk, "campaign")
    return campaign
