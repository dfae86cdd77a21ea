"""End runs whose jobs have all ended: read what they printed, and record it or why there is no result."""

import logging
import time
from datetime import datetime

from django.db import DatabaseError, transaction
from django.db.models import Case, F, Q, QuerySet, When
from django.db.models.functions import Now
from django.utils import timezone

from apps.agents.models import Job
from apps.bench.text import Message, _
from apps.bench.toolkit import Plan, ToolFailure
from apps.campaigns import queries
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Run
from apps.core import clock_steps, cpu_time, isolation, leases, queue, shutdown
from apps.core.models import SetAside
from apps.core.shutdown import ShuttingDown
from apps.results import services as results
from apps.results import timings
from workers import adaptation, readings, server_clock

logger = logging.getLogger(__name__)
CLOSE = "close_runs"
# What an agent says of a job that failed for the node's own reason.
NODE_TROUBLE = "node-trouble"
# A run at whose reading workers were lost so often is not read again.
MOST_LOSSES = 3

_LOST = _("Workers were lost while they read what the commands printed.")
_UNREADABLE = _("What the commands printed could not be read; the server's log has the details.")
_REPORT_IT = _("The raw output is kept on this page: report it together with the tool's version.")


class ClockSetError(Exception):
    """The server's clock was set as a run was read, whose result does not say so."""


def close_waiting(run_id: int, *, now: datetime) -> None:
    """Close a run as `close` does; one with which that fails is set aside, and tried again later."""
    isolation.for_each(CLOSE, [run_id], close, now=now, tell=_write_fault, atomic=False)


def close(run_id: int, *, in_turn: bool = False) -> bool:
    """End a run whose jobs have all ended: with its result, or the reason why there is none.

    Nothing happens, and False, while another worker is at it, or where it waits for its turn to be read and this is
    not it. Raises what the database raises: then it is to be tried again.
    """
    if not in_turn and readings.waits_for_its_turn(run_id, timezone.now()):
        queue.send(queue.BULKY)
        return False
    with leases.hold(CLOSE, run_id) as is_ours:
        if not is_ours:
            return False
        lead_s = clock_steps.lead()
        # It may have been set since the last look, a moment ago.
        server_clock.note_steps(now=timezone.now())
        opened = Run.objects.filter(pk=run_id, state__in=Run.OPEN_STATES)
        was_lost = leases.lost_worker("updated_at")
        # The first loss was counted as it was found, before the run waited for its turn.
        if _count_losses(opened.filter(was_lost, readings__gt=1 if in_turn else 0)) and not in_turn:
            queue.send(queue.BULKY)
            return False
        began = time.process_time()
        try:
            # Committed before anything is read: whatever ends this worker on the way is counted, but a stop.
            with shutdown.put_off():
                opened.update(readings=Case(When(was_lost, then=F("readings") + 1), default=1), updated_at=Now())
            _close(run_id, cpu_time.READING_S if in_turn else cpu_time.QUICK_S, lead_s)
        except ClockSetError:
            # The next look tells of it, and reads it anew.
            opened.update(readings=F("readings") - 1)
            return False
        except results.TakesLongError:
            opened.update(readings=F("readings") - 1)
            # From now on whatever this team prints waits for its turn, so that no second one is tried here.
            readings.count(run_id, time.process_time() - began + readings.MOST_S)
            queue.send(queue.BULKY)
            return False
        except ShuttingDown as error:
            isolation.let_go(error, lambda: opened.update(readings=F("readings") - 1))
        except Exception:
            # It is the worker's own end that counts.
            isolation.raise_unless_usable()
            opened.update(readings=F("readings") - 1)
            raise
        readings.count(run_id, time.process_time() - began)
        return True


def _count_losses(runs: QuerySet[Run]) -> int:
    """Count the time of workers that were lost as they read these runs as their teams'; return how many runs."""
    lost = list(runs)
    for run in lost:
        readings.count_lost(run.pk, (timezone.now() - run.updated_at).total_seconds())
    return len(lost)


@transaction.atomic
def fail(run: Run, failure: ToolFailure) -> None:
    """End an attempt without a result, and adapt what its campaign measures next."""
    now = timezone.now()
    campaigns.fail_run(
        run=run,
        reason=failure.message,
        code=failure.code,
        retryable=failure.retryable,
        remedy=failure.remedy,
        now=now,
        fault_of_node=failure.code == NODE_TROUBLE,
    )
    adaptation.adapt(trial=run.trial, now=now)


@transaction.atomic
def _close(run_id: int, most_s: float, lead_s: float) -> None:
    run = queries.lock_open_run(run_id)
    if run is None:
        return
    is_cancelled = run.trial.campaign.state == Campaign.State.CANCELLED
    if is_cancelled and not _is_measured(run):
        campaigns.cancel_run(run=run, now=timezone.now())
        return
    timings.record_timings(run=run)
    try:
        if run.readings > MOST_LOSSES:
            raise ToolFailure("reading-lost", Message(_LOST), False, Message(_REPORT_IT))
        results.record_run(run=run, most_s=most_s)
    except ToolFailure as failure:
        if is_cancelled:
            campaigns.cancel_run(run=run, now=timezone.now())
        else:
            fail(run, failure)
    except (DatabaseError, results.TakesLongError):
        # Not the measurement's fault: the run stays open and the next look closes it.
        raise
    except Exception:
        logger.exception("What run %s printed could not be read", run.pk)
        fail(run, ToolFailure("unreadable", Message(_UNREADABLE), False, Message(_REPORT_IT)))
    else:
        campaigns.succeed_run(run=run, now=timezone.now())
        if not is_cancelled:
            adaptation.adapt(trial=run.trial, now=timezone.now())
    if clock_steps.was_set_since(lead_s):
        raise ClockSetError


def _is_measured(run: Run) -> bool:
    """Return whether a run's commands all came to their own ends: what they printed only waits to be read."""
    plan = Plan.from_json(run.plan or {"stages": []})
    stages = len(plan.stages) if plan.clean_up is None else plan.clean_up
    jobs = Job.objects.filter(run_ref=run.pk, stage__lt=stages, background=False, optional=False)
    is_last = stages > 0 and run.stage >= stages - 1
    own_end = Q(state=Job.State.ENDED, stop_requested_at=None)
    return is_last and jobs.exists() and not jobs.exclude(own_end).exists()


def _write_fault(run_id: int, fault: SetAside) -> None:
    campaigns.write_fault(Run.objects.values_list("trial__campaign", flat=True).get(pk=run_id), fault)
