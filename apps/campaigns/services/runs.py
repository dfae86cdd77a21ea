"""Runs: claimed with all they need or not at all, and ended once, with their reservations given back."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef
from psycopg import Error

from apps.bench.text import Message, _
from apps.campaigns import live, queries
from apps.campaigns.models import Reservation, Run, Trial
from apps.campaigns.models.reservations import ONE_HOLDER
from apps.campaigns.services import completion
from apps.campaigns.services.clock_steps import BEGINNING
from apps.campaigns.services.events import Level, write_event, write_fault
from apps.core import clock_steps, isolation, leases
from apps.core.models import SetAside


class Claims(NamedTuple):
    """What a pass claimed, and of how many lanes it chose: another pass may have won the rest."""

    runs: list[Run]
    chosen: int


# A node that always fails for its own reason, but does not say so while it is asked, is no reason to try for ever.
MOST_SPARED = 20

# Every measurement waits for this: a claim is one statement. No join in the first part: only conditions on the row
# itself are looked at again after waiting for its lock. Resources come in one order for all, so that two claims never
# wait for each other.
_CLAIM = """
    WITH claimed AS (
        UPDATE campaigns_trial
           SET state = 'running', attempts = %(attempt)s, not_before = NULL, updated_at = %(now)s
         WHERE id = %(trial)s AND state = 'pending' AND attempts = %(attempts)s
           AND EXISTS (SELECT FROM campaigns_campaign WHERE id = %(campaign)s AND state = 'running')
     RETURNING id, experiment_id
    ), begun AS (
        INSERT INTO campaigns_run
               (created_at, updated_at, trial_id, experiment_id, attempt, state, stage, stopping, started_at)
        SELECT %(now)s, %(now)s, id, experiment_id, %(attempt)s, 'starting', -1, false, %(now)s FROM claimed
     RETURNING id
    ), held AS (
        INSERT INTO campaigns_reservation (resource, run_id, taken_at)
        SELECT resource, begun.id, %(now)s
          FROM begun, unnest(%(resources)s::text[]) AS resource ORDER BY resource
    )
    SELECT id FROM begun
"""


def take_runs(
    *,
    ready_nodes: Collection[int],
    now: datetime,
    limit: int = 1000,
    needing: Collection[str] | None = None,
    kept_back: Collection[str] = (),
) -> Claims:
    """Claim the next trial of every lane that may start now, and return the new runs; `limit` lanes at most.

    A lane may start if its campaign is running, its nodes are among `ready_nodes` and nothing that it needs is
    reserved. Older campaigns come first, then experiments in their order, then trials in theirs. Each claim is a
    transaction of its own: what two processes want at once goes to one of them, by a database constraint. With
    `needing`, only lanes that need one of these resources are looked at; none begins that needs one `kept_back`. A
    trial with which it fails is set aside; one as whose claim the server's clock is set stays where it is.
    """
    lead_s = clock_steps.lead()
    chosen: list[queries.Startable] = []
    resources = set(kept_back)
    ready = set(ready_nodes)
    for lane in queries.startable_lanes(now=now, ready_nodes=ready, needing=needing):
        nodes = {node for members in lane.roles.values() for node in members}
        if nodes <= ready and resources.isdisjoint(lane.resources):
            chosen.append(lane)
            resources.update(lane.resources)
            if len(chosen) == limit:
                break
    trials = Trial.objects.select_related("experiment", "lane").in_bulk([lane.next_trial for lane in chosen])
    runs = (_claim_by_itself(trials[lane.next_trial], now, lead_s) for lane in chosen if lane.next_trial in trials)
    return Claims([run for run in runs if run], len(chosen))


def _claim_by_itself(trial: Trial, now: datetime, lead_s: float) -> Run | None:
    """Return the run of a claimed trial; None if somebody else was faster, or the trial is set aside."""

    def write(_pk: int, fault: SetAside) -> None:
        write_fault(trial.campaign_id, fault)

    try:
        return _claim(trial, now, lead_s)
    except Exception as error:
        isolation.set_aside(queries.CLAIM, trial.pk, error, now=now, tell=write)
        return None


def _claim(trial: Trial, now: datetime, lead_s: float) -> Run | None:
    attempt = trial.attempts + 1
    values: dict[str, Any] = {
        **{"trial": trial.pk, "attempts": trial.attempts, "attempt": attempt, "campaign": trial.campaign_id},
        **{"resources": trial.lane.resources, "now": now},
    }
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            leases.share(BEGINNING)
            cursor.execute(_CLAIM, values)
            row = cursor.fetchone()
            if clock_steps.was_set_since(lead_s):
                # It would begin at a time of before, and who told of the step may have done so without it.
                transaction.set_rollback(True)
                row = None
    except IntegrityError as error:
        if not (isinstance(error.__cause__, Error) and error.__cause__.diag.constraint_name == ONE_HOLDER):
            raise
        # Somebody else took one of the resources a moment ago; the lane's turn comes when it is given back.
        return None
    if row is None:
        return None
    columns = {"trial": trial, "experiment_id": trial.experiment_id, "attempt": attempt}
    run = Run(pk=row[0], **columns, started_at=now, created_at=now, updated_at=now)
    run._state.adding = False
    trial.state, trial.attempts, trial.not_before = Trial.State.RUNNING, attempt, None
    live.publish(trial.campaign_id, "trial", experiment=trial.experiment_id, trial=trial.pk)
    return run


def forget_claims() -> None:
    """Forget the trials that could not be claimed once they were, or wait no more: a claim itself costs no look."""
    pending = Trial.objects.filter(pk=OuterRef("row_id"), state=Trial.State.PENDING)
    SetAside.objects.filter(~Exists(pending), work=queries.CLAIM).delete()


def release_run(*, run: Run, now: datetime, fenced_until: datetime | None = None) -> bool:
    """Give back what a run holds, once nothing of it is under way on its nodes any more; False if it held nothing.

    With `fenced_until`, until when something of it may still run on a node that fell silent, it is kept back.
    """
    reservations = Reservation.objects.filter(run=run, released_at=None, fenced_until=None)
    if fenced_until is not None and fenced_until > now:
        return bool(reservations.update(fenced_until=fenced_until))
    return bool(reservations.update(released_at=now))


@transaction.atomic
def succeed_run(*, run: Run, now: datetime) -> bool:
    """End a run and its trial with success; False if the run had ended before."""
    if not _end(run, Run.State.SUCCEEDED, now, reason=None):
        return False
    _end_trial(run, Trial.State.SUCCEEDED, now, reason=None)
    return True


@transaction.atomic
def recover_run(*, run: Run, now: datetime) -> bool:
    """Let a run that failed, and its trial, succeed after all: what it printed could be read later.

    False if the trial did not fail with this run as its last attempt.
    """
    failed = Trial.objects.select_for_update(no_key=True).filter(pk=run.trial_id, state=Trial.State.FAILED).first()
    if failed is None or failed.runs.order_by("-attempt").values_list("pk", flat=True).first() != run.pk:
        return False
    changed = Run.objects.filter(pk=run.pk, state=Run.State.FAILED)
    if not changed.update(state=Run.State.SUCCEEDED, reason=None, updated_at=now):
        return False
    failed.state, failed.reason = Trial.State.SUCCEEDED, None
    failed.save(update_fields=["state", "reason", "updated_at"])
    live.publish(failed.campaign_id, "trial", experiment=failed.experiment_id, trial=failed.pk)
    return True


@transaction.atomic
def fail_run(
    *,
    run: Run,
    reason: Message,
    code: str,
    retryable: bool,
    now: datetime,
    remedy: Message | None = None,
    fault_of_node: bool = False,
) -> bool:
    """End a run without a result; its trial waits for another attempt if its policy allows one, or has failed.

    Every attempt stays on record; one that ended by a `fault_of_node` is none of those that the policy allows, up to
    MOST_SPARED of a trial. False if the run had ended before.
    """
    why: dict[str, Any] = {
        "code": code,
        "message": reason.as_json(),
        "remedy": remedy.as_json() if remedy else None,
        "retryable": retryable,
    }
    if not _end(run, Run.State.FAILED, now, reason=why):
        return False
    trial = run.trial
    if fault_of_node:
        _spare_attempt(trial, code)
    values = {"trial": trial.pk, "attempt": run.attempt, "wait": trial.experiment.retry_wait_s}
    if retryable and run.attempt < trial.attempts_allowed:
        Trial.objects.filter(pk=trial.pk, state=Trial.State.RUNNING).update(
            state=Trial.State.PENDING,
            reason=why,
            not_before=now + timedelta(seconds=trial.experiment.retry_wait_s),
            updated_at=now,
        )
        text = _("Trial %(trial)s: attempt %(attempt)s failed and is repeated in %(wait)s s. %(why)s")
        level = Level.WARNING
    else:
        _end_trial(run, Trial.State.FAILED, now, reason=why)
        text = _("Trial %(trial)s failed at attempt %(attempt)s. %(why)s")
        level = Level.ERROR
    write_event(
        campaign_id=trial.campaign_id,
        trial_id=trial.pk,
        level=level,
        message=Message(text, {**values, "why": reason.as_json()}),
    )
    return True


def _spare_attempt(trial: Trial, code: str) -> None:
    """Allow a trial one more attempt than before, unless that was done too often."""
    if Run.objects.filter(trial=trial.pk, state=Run.State.FAILED, reason__code=code).count() <= MOST_SPARED:
        trial.attempts_allowed += 1
        Trial.objects.filter(pk=trial.pk).update(attempts_allowed=trial.attempts_allowed)


@transaction.atomic
def cancel_run(*, run: Run, now: datetime) -> bool:
    """End a run that was stopped because its campaign was cancelled; False if the run had ended before."""
    if not _end(run, Run.State.CANCELLED, now, reason=None):
        return False
    _end_trial(run, Trial.State.CANCELLED, now, reason=None)
    return True


def _end(run: Run, state: Run.State, now: datetime, *, reason: dict[str, Any] | None) -> bool:
    """Claim the end of an open run, so that it ends once, and give back what it held."""
    ended = Run.objects.filter(pk=run.pk, state__in=Run.OPEN_STATES).update(
        state=state, ended_at=now, reason=reason, updated_at=now
    )
    if not ended:
        return False
    run.state, run.ended_at, run.reason = state, now, reason
    release_run(run=run, now=now)
    trial = run.trial
    live.publish(trial.campaign_id, "trial", experiment=trial.experiment_id, trial=trial.pk)
    return True


def _end_trial(run: Run, state: Trial.State, now: datetime, *, reason: dict[str, Any] | None) -> None:
    Trial.objects.filter(pk=run.trial_id, state=Trial.State.RUNNING).update(
        state=state, reason=reason, finished_at=now, updated_at=now
    )
    campaign = run.trial.campaign_id
    # After the commit, so that of two runs that end at one moment the later sees both ended.
    transaction.on_commit(lambda: completion.finish_campaign(campaign_id=campaign, now=now))
